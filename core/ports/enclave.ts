import { one } from '../container.ts'
import type { ModelSettings } from '../settings.ts'
import type { Usage } from './upstream.ts'

/** The published keys and the proof of where they live. */
export interface Keyset {
  /** The bytes that a report binds, hex. */
  readonly keyset: string
  readonly keys: readonly {
    readonly enclaveKid: string
    readonly kem: string
    readonly public_key: string
    readonly not_before: number
    readonly not_after: number
  }[]
  /** Whose hashes the keyset names; absent of an enclave of 1.0.0. Hex. */
  readonly receipt_keys?: readonly { readonly ed25519: string; readonly ml_dsa_65: string }[]
  readonly evidence: Evidence
}

export interface Evidence {
  readonly type: string
  readonly [field: string]: unknown
}

/** A file as its makers signed it. */
export interface SignedFile {
  readonly text: string
  /** Ed25519, hex. */
  readonly signatures: readonly { readonly key: string; readonly signature: string }[]
}

/** What the gateway lets this call do; the enclave holds itself to it. */
export interface Grant {
  readonly request: string
  readonly organization: string
  readonly user: string
  readonly key: string
  /** Which key it was sealed to, where the body is too large to look; the enclave goes by the body alone. */
  readonly enclaveKid?: string
  /** Bytes of a body that comes as a stream, as far as its sender tells; the enclave makes room for so many. */
  readonly length?: number
  /** Null: every model. */
  readonly models: readonly string[] | null
}

/** A stored file as the enclave needs it: its labels are sealed. */
export interface ShelvedFile {
  readonly version: string
  /** Hex, with its nonce in front. */
  readonly name: string
  readonly mime: string
  /** Bytes of the sealed content. */
  readonly size: number
}

/** What a tool made: its key wrapped by the caller, its labels sealed by the enclave. */
export interface MadeLabels {
  /** That the caller chose; a new one when absent. */
  readonly id?: string
  readonly kid: string
  readonly wrappedDek: string
  readonly name: string
  readonly mime: string
}

export interface Kept {
  readonly fileId: string
  readonly size: number
  readonly path: string
}

/** The stores, as far as one grant reaches: the enclave asks back for ciphertext and has no credentials of its own. */
export interface Shelf {
  /** Null when the caller has no such file. */
  file(id: string): Promise<ShelvedFile | null>
  /** Sealed. */
  content(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>
  keep(labels: MadeLabels, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Kept>
  /** The caller's indexed files, or those of them that are named. A new indexing has a new version. */
  indexes(ids: readonly string[] | null): Promise<readonly { readonly id: string; readonly version: string }[]>
  index(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>
  keepIndex(id: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
}

/** All that the gateway learns of a sealed call. */
export interface Trailer {
  /** The catalogue's id, never the caller's spelling. */
  readonly model: string | null
  readonly backend: string | null
  readonly usage: Usage | null
  readonly audioSeconds: number | null
  /** The hash of the receipt, hex; absent where the request asked for none. */
  readonly receipt?: string
}

/** A state of the log of receipts, and how it continues a state of `from` receipts. Hex. */
export interface WantedHead {
  readonly log: string
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

export type SealedReply =
  | {
      readonly kind: 'body'
      readonly status: number
      readonly body: Readonly<Record<string, unknown>>
      /** Fixed words when it failed after opening; what exactly is sealed in the body. */
      readonly failure: string | null
      /** Ms after which a failure may be over; null where no time helps, absent where none is known. */
      readonly retryAfter?: number | null
      readonly trailer: Trailer
    }
  | {
      readonly kind: 'frames'
      /** Hex frames; the last one says whether the answer is whole. */
      readonly frames: AsyncIterable<string>
      /** Known when the frames have ended. */
      readonly trailer: Promise<Trailer>
    }

/** Bytes of the longest sealed body that goes in whole: 32 MiB in hex, and the fields beside it. */
export const longestSealed = 65 * 1024 * 1024

/** The one who may see plaintext. What goes in is sealed and what comes out is sealed for the caller: the gateway sees sizes and times only. */
export interface Enclave {
  keys(enclave?: string): Promise<Keyset>
  /** Fresh evidence over the same keyset. `challenge` is 32 bytes. */
  attest(challenge: Uint8Array, enclave?: string): Promise<Keyset>
  /** What it serves; every one of them is confidential. */
  models(signal: AbortSignal): Promise<readonly { readonly name: string; readonly settings: ModelSettings }[]>
  /** `sealed` goes in as it came: parsed, or as the bytes of its JSON where it is long, whole or as they come. Throws BadRequest, Expired, NotFound or Unavailable with messages of its catalogue only. */
  handle(
    route: string,
    sealed: Readonly<Record<string, unknown>> | Uint8Array | AsyncIterable<Uint8Array>,
    grant: Grant,
    signal: AbortSignal,
    /** For the routes that work with stored files. */
    shelf?: Shelf,
  ): Promise<SealedReply>
  /** Signs a state of the log of receipts that continues the state before. Throws BadRequest for any other state. */
  signHead?(wanted: WantedHead): Promise<HeadAnswer>
  /** Signed lists of what may run, where the gateway has some. */
  signedLists?(): Promise<{ readonly releases: SignedFile | null; readonly notices: SignedFile | null }>
  dispose?(): Promise<void> | void
}

export const Enclave = one<Enclave>('Enclave')
