import type { Enclave, Keyset, Trailer } from '../../core/ports/enclave.ts'

/** A state of the log of receipts, and how it continues a state of `from` receipts. Hex. */
export interface WantedHead {
  /** The log's own name: 32 hex characters. */
  readonly log: string
  /** The number of receipts. */
  readonly size: number
  readonly root: string
  readonly from: number
  readonly path: readonly string[]
}

/** A state of the log as the enclave signed it. */
export interface SignedHead {
  readonly text: string
  readonly ed25519: string
  readonly ml_dsa_65: string
  /** The name of the enclave, where there are several. */
  readonly enclave?: string
}

/** `behind`: the size that the enclave signed last, from which the path has to lead. */
export type HeadAnswer = SignedHead | { readonly behind: number }

/** An enclave that signs receipts, and the log of them. */
export interface LogSigner {
  /** Signs a state that continues the state before. Throws BadRequest for any other state. */
  signHead(wanted: WantedHead): Promise<HeadAnswer>
}

/** What an enclave publishes that signs receipts. */
export interface SignerKeyset extends Keyset {
  /** The keys whose hashes the keyset names, in hex; absent from an enclave of 1.0.0. */
  readonly receipt_keys?: readonly { readonly ed25519: string; readonly ml_dsa_65: string }[]
}

/** What such an enclave tells about a call. */
export interface ReceiptTrailer extends Trailer {
  /** The hash of the receipt, hex; absent where the request asked for none. */
  readonly receipt?: string
}

/** Null for an enclave that signs no receipts. */
export const logSignerOf = (enclave: Enclave): LogSigner | null =>
  'signHead' in enclave && typeof enclave.signHead === 'function' ? (enclave as Enclave & LogSigner) : null
