import { one } from '../container.ts'

/** What a backend's document says, before anything of it is believed. */
export interface BackendStatement {
  /** Evidence of a platform, in the form of `GET /rvenc/attestation`. */
  readonly evidence: unknown
  /** 32 bytes that bind the backend's TLS key: the first half of the evidence's report data. */
  readonly subject: Uint8Array
  /** The release digest that `subject` binds: 32 bytes, zeros when the backend names none. */
  readonly release: Uint8Array
}

/** A documented form in which a backend proves where its TLS key lives. */
export interface BackendEvidence {
  /** The name of the form, for receipts. */
  readonly kind: string
  /** Path and query of the document on the backend's own origin. `nonce` has 32 bytes. */
  place(nonce: Uint8Array): string
  /**
   * Reads a document. Throws for any other form. `key` is the DER of the public key in which the live TLS connection
   * ends.
   */
  read(document: Uint8Array, key: Uint8Array): BackendStatement
}

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

export const BackendEvidence = one<BackendEvidence>('BackendEvidence')
