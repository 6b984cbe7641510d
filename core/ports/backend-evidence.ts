import { one } from '../container.ts'
import type { Door } from './platform.ts'

/** What a backend's document says, before anything of it is believed. */
export interface BackendStatement {
  /** Evidence of a platform, in the form of `GET /rvenc/attestation`. */
  readonly evidence: unknown
  /** 32 bytes that bind the backend's TLS key: the first half of the evidence's report data. */
  readonly subject: Uint8Array
  /** `channel`: the subject binds this one connection, too. `key`: evidence that who holds the TLS key can relay. */
  readonly binds: 'channel' | 'key'
  /** The release digest that `subject` binds: 32 bytes, zeros when the backend names none. */
  readonly release: Uint8Array
}

/** Where the document of a backend stands. */
interface Placed {
  /** The name of the form, for what proves a call later. */
  readonly kind: string
  /** Path and query of the document on the backend's own origin. `nonce` has 32 bytes. */
  place(nonce: Uint8Array): string
}

/** A documented form in which a backend proves where its TLS key lives. */
export interface TlsForm extends Placed {
  /** The label under which a connection exports the keying material that the subject binds; absent when it binds none. */
  readonly exporterLabel?: string
  /**
   * Reads a document. Throws for any other form. `key` is the DER of the public key in which the live TLS connection
   * ends, and `exporter` 32 bytes that it exported under the label with the nonce as its context; null without a label.
   */
  read(document: Uint8Array, key: Uint8Array, exporter: Uint8Array | null): BackendStatement
}

/** A service that exists, whose documents name machines and keys in a form of its own. */
export interface ServiceForm extends Placed {
  /** The name by which such documents are judged as a whole. */
  readonly service: string
  /** A door that seals every body to a key of the evidence, and sends nothing else. Throws when it can use no key. */
  sealed(door: Door, keys: readonly BoundKey[]): Door
}

/** A key that evidence binds: `use` as the form names it, the key in hex. */
export interface BoundKey {
  readonly use: string
  readonly key: string
}

export type BackendEvidence = TlsForm | ServiceForm

/** The evidence under which a backend received a request. */
export interface BackendProof {
  /** The `kind` of the form in which the backend proved itself. */
  readonly kind: string
  /** SHA-256 of the document, in hex. */
  readonly digest: string
  /** The platform of the evidence, such as `sev-snp` or `tdx`. */
  readonly platform: string
  /** In hex. */
  readonly measurement: string
}

/** An answer of a backend. `proven` is absent when no evidence of the backend is required. */
export interface BackendAnswer {
  readonly proven?: BackendProof
}

export const BackendEvidence = one<BackendEvidence>('BackendEvidence', {
  kind: 'text',
  place: 'function',
})
