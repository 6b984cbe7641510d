import { createHash } from 'node:crypto'
import { plugin } from '../../core/plugin.ts'
import { BackendEvidence } from '../../core/ports/backend-evidence.ts'
import { concat, number, textOf, utf8, fromHex, toHex } from '../sealed/wire/bytes.ts'

const path = '/.well-known/sealgate-evidence'

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest())

/** The first half of the report data: the label separates it from keysets and from every other use of a report. */
const subjects = {
  /** Key alone: who holds the TLS key can relay it from another machine. */
  1: (key: Uint8Array, release: Uint8Array) =>
    sha256(concat(utf8('sealgate-backend-tls/1\0'), number(key.length, 4), key, release)),
  2: (key: Uint8Array, release: Uint8Array, exporter: Uint8Array) =>
    sha256(concat(utf8('sealgate-backend-tls/2\0'), number(key.length, 4), key, release, exporter)),
} as const

/** The digest of 32 bytes, or zeros when the backend names none. */
const releaseOf = (members: unknown): Uint8Array => {
  if (members === undefined) return new Uint8Array(32)
  const bytes = typeof members === 'string' ? fromHex(members, 32) : null
  if (bytes?.length !== 32) throw new Error('The release of the document is no digest')
  return bytes
}

/** Reports of SEV-SNP, TDX or Nitro over TLS key, connection and nonce, as JSON at a well-known path. */
export default plugin({
  port: BackendEvidence,
  name: 'attested-tls',
  create: (): BackendEvidence => ({
    kind: 'attested-tls',
    exporterLabel: 'EXPORTER-sealgate-backend-evidence',
    place: (nonce) => `${path}?nonce=${toHex(nonce)}`,
    /** Throws for another version, and when the document is no JSON object or its release no digest. */
    read(document, key, exporter) {
      const json: unknown = JSON.parse(textOf(document))
      if (typeof json !== 'object' || json === null) throw new Error('The document is no JSON object')
      const { evidence, release, version = 1 } = json as Readonly<Record<string, unknown>>
      const digest = releaseOf(release)
      if (version === 1) return { evidence, binds: 'key', subject: subjects[1](key, digest), release: digest }
      if (version !== 2 || exporter === null) throw new Error('The version of the document is unknown')
      return { evidence, binds: 'channel', subject: subjects[2](key, digest, exporter), release: digest }
    },
  }),
})
