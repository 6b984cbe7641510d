import { equal, notDeepEqual, notEqual, ok, throws } from 'node:assert/strict'
import type { BackendEvidence, ServiceForm, TlsForm } from '../../core/ports/backend-evidence.ts'
import { services } from '../../plugins/sealed/evidence/services/machine.ts'
import { type Contract, proof } from './contract.ts'

/** A form of evidence; a document that it reads, where a service does not judge its own. */
export interface TriedForm {
  readonly form: BackendEvidence
  readonly document: Uint8Array
}

const reads = (form: BackendEvidence): form is TlsForm => 'read' in form

const bytes = (length: number, value: number) => new Uint8Array(length).fill(value)

/** Without a key of the evidence nothing may go out. */
const refusesEverything = (form: ServiceForm): void => {
  const door = () => Promise.reject(new Error('a body went out'))
  throws(() => form.sealed(door, []))
  throws(() => form.sealed(door, [{ use: 'another', key: '00'.repeat(32) }]))
}

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
    if (!reads(form)) return refusesEverything(form)
    const { subject, release } = form.read(document, bytes(91, 1), bytes(32, 2))
    equal(subject.length, 32)
    equal(release.length, 32)
    const other = bytes(91, 1)
    other[90] = 2
    notDeepEqual(form.read(document, other, bytes(32, 2)).subject, subject)
  },
  'refuses another document': async (fresh) => {
    const { form } = await fresh()
    if (!reads(form))
      return ok(
        services.some((name) => name === form.service),
        'its service has a judge',
      )
    for (const text of ['', '<html>', 'null', '[']) throws(() => form.read(Buffer.from(text), bytes(91, 1), null))
  },
} satisfies Contract<TriedForm>

const right = (): TriedForm => ({
  form: {
    kind: 'paper',
    place: (nonce) => `/paper?nonce=${Buffer.from(nonce).toString('hex')}`,
    read(document, key) {
      const parsed = JSON.parse(Buffer.from(document).toString()) as object
      return {
        binds: 'key',
        evidence: { ...parsed, at: Object.keys(parsed) },
        subject: key.slice(59),
        release: bytes(32, 0),
      }
    },
  },
  document: Buffer.from('{}'),
})

const broken = (change: Partial<TlsForm>) => (form: TriedForm) => ({ form: { ...form.form, ...change } })

export const backendEvidence = proof<TriedForm, typeof contract>({
  contract,
  right,
  wrong: {
    'has a name for receipts': broken({ kind: 'Paper with words' }),
    'asks for each nonce by itself, on the origin of the backend': broken({ place: () => '/paper' }),
    'binds the whole key': broken({
      read: () => ({ binds: 'key', evidence: {}, subject: bytes(32, 0), release: bytes(32, 0) }),
    }),
    'refuses another document': broken({
      read: (_, key) => ({ binds: 'key', evidence: {}, subject: key.slice(59), release: bytes(32, 0) }),
    }),
  },
})
