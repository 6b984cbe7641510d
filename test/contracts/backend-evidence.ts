import { equal, notDeepEqual, notEqual, ok, throws } from 'node:assert/strict'
import type { BackendEvidence } from '../../core/ports/backend-evidence.ts'
import { type Contract, proof } from './contract.ts'

/** A form of evidence, and a document that it reads. */
export interface TriedForm {
  readonly form: BackendEvidence
  readonly document: Uint8Array
}

const bytes = (length: number, value: number) => new Uint8Array(length).fill(value)

const contract = {
  'has a name for receipts': async (fresh) => {
    ok(/^[a-z][a-z0-9-]{0,31}$/.test((await fresh()).form.kind))
  },
  'asks for each nonce by itself, on the origin of the backend': async (fresh) => {
    const { form } = await fresh()
    const place = form.place(bytes(32, 1))
    equal(new URL(`https://backend${place}`).host, 'backend')
    ok(place.startsWith('/'))
    notEqual(form.place(bytes(32, 2)), place)
  },
  'binds the whole key': async (fresh) => {
    const { form, document } = await fresh()
    const { subject, release } = form.read(document, bytes(91, 1))
    equal(subject.length, 32)
    equal(release.length, 32)
    const other = bytes(91, 1)
    other[90] = 2
    notDeepEqual(form.read(document, other).subject, subject)
  },
  'refuses another document': async (fresh) => {
    const { form } = await fresh()
    for (const text of ['', '<html>', 'null', '[']) throws(() => form.read(Buffer.from(text), bytes(91, 1)))
  },
} satisfies Contract<TriedForm>

const right = (): TriedForm => ({
  form: {
    kind: 'paper',
    place: (nonce) => `/paper?nonce=${Buffer.from(nonce).toString('hex')}`,
    read(document, key) {
      const said = JSON.parse(Buffer.from(document).toString()) as object
      return { evidence: { ...said, at: Object.keys(said) }, subject: key.slice(59), release: bytes(32, 0) }
    },
  },
  document: Buffer.from('{}'),
})

const broken = (change: Partial<BackendEvidence>) => (it: TriedForm) => ({ form: { ...it.form, ...change } })

export const backendEvidence = proof<TriedForm, typeof contract>({
  contract,
  right,
  wrong: {
    'has a name for receipts': broken({ kind: 'Paper with words' }),
    'asks for each nonce by itself, on the origin of the backend': broken({ place: () => '/paper' }),
    'binds the whole key': broken({
      read: () => ({ evidence: {}, subject: bytes(32, 0), release: bytes(32, 0) }),
    }),
    'refuses another document': broken({
      read: (_, key) => ({ evidence: {}, subject: key.slice(59), release: bytes(32, 0) }),
    }),
  },
})
