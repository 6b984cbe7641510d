import { createHash } from 'node:crypto'
import { plugin } from '../../core/plugin.ts'
import { BackendEvidence } from '../../core/ports/backend-evidence.ts'
import { concat, number, textOf, utf8 } from '../../core/sealed/wire/bytes.ts'
import { fromHex, toHex } from '../../core/sealed/wire/hex.ts'

const path = '/.well-known/sealgate-evidence'

/** The first half of the report data: the label separates it from keysets and from every other use of a report. */
const subjectOf = (key: Uint8Array, release: Uint8Array): Uint8Array => {
  const bound = concat(utf8('sealgate-backend-tls/1\0'), number(key.length, 4), key, release)
  return new Uint8Array(createHash('sha256').update(bound).digest())
}

/** The digest of 32 bytes, or zeros when the backend names none. */
const releaseOf = (said: unknown): Uint8Array => {
  if (said === undefined) return new Uint8Array(32)
  const bytes = typeof said === 'string' ? fromHex(said, 32) : null
  if (bytes?.length !== 32) throw new Error('The release of the document is no digest')
  return bytes
}

/** Reports of SEV-SNP, TDX or Nitro over the TLS key of the backend and a nonce, as JSON at a well-known path. */
export default plugin({
  port: BackendEvidence,
  name: 'attested-tls',
  create: (): BackendEvidence => ({
    kind: 'attested-tls',
    place: (nonce) => `${path}?nonce=${toHex(nonce)}`,
    /** Throws when the document is no JSON object, or when its release is no digest. */
    read(document, key) {
      const said: unknown = JSON.parse(textOf(document))
      if (typeof said !== 'object' || said === null) throw new Error('The document is no JSON object')
      const { evidence, release } = said as Readonly<Record<string, unknown>>
      const digest = releaseOf(release)
      return { evidence, subject: subjectOf(key, digest), release: digest }
    },
  }),
})
