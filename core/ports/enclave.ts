import { functions, one } from '../container.ts'
import type { BackendProof } from './backend-evidence.ts'
import type { ModelSettings } from '../settings.ts'
import type { Usage } from './upstream.ts'

/** The published keys and the proof of the enclave that holds them. */
export interface Keyset {
  /** The bytes that a report binds, in hex. */
  readonly keyset: string
  readonly keys: readonly {
    /** 16 hex characters, derived from the key itself. */
    readonly enclaveKid: string
    /** The name of the key encapsulation; another name marks the hash of keys that open nothing. */
    readonly kem: string
    /** In hex. */
    readonly public_key: string
    /** In Unix ms, like `not_after`. Clients seal only between the two. */
    readonly not_before: number
    readonly not_after: number
  }[]
  /** Evidence over `keyset` and the challenge; over zeros where nobody asked with a challenge. */
  readonly evidence: Evidence
}

/** A platform's evidence with its certificates and lists, in the form of `GET /rvenc/attestation`. */
export interface Evidence {
  /** The platform; `dev` proves nothing. */
  readonly type: string
  readonly [field: string]: unknown
}

/** A file with its makers' signatures. */
export interface SignedFile {
  /** The signed characters. A reader parses the text only after enough signatures hold. */
  readonly text: string
  /** Ed25519, in hex. */
  readonly signatures: readonly { readonly key: string; readonly signature: string }[]
}

/** The rights of one call. The enclave enforces them. */
export interface Grant {
  /** The gateway's id of the request, for logs. */
  readonly request: string
  readonly organization: string
  readonly user: string
  /** The id of the API key, never the key itself. */
  readonly key: string
  /** The key to which a long body is sealed, for the gateway's routing. The enclave reads the body alone. */
  readonly enclaveKid?: string
  /** In bytes: the announced length of a streamed body. The enclave reserves this much memory. */
  readonly length?: number
  /** Null means every model. */
  readonly models: readonly string[] | null
  /** Models that have no room for the call, for so many ms; absent where every model has room. */
  readonly full?: readonly { readonly model: string; readonly wait: number }[] | undefined
}

/** A stored file for the enclave, with sealed labels. */
export interface EnclaveFile {
  /** `1`: sealed in one piece. `2`: sealed in chunks of 64 KiB. */
  readonly version: string
  /** Hex, with the nonce first. */
  readonly name: string
  readonly mime: string
  /** In bytes of the sealed content. */
  readonly size: number
}

/** A tool's file: the caller wraps its key, and the enclave seals its labels. */
export interface MadeLabels {
  /** The caller's chosen id; a new id when absent. */
  readonly id?: string
  /** The name of the caller's key-encryption key. */
  readonly kid: string
  /** The file's key under that key, in hex; the gateway cannot unwrap it. */
  readonly wrappedDek: string
  /** Sealed, in hex, like `mime`. */
  readonly name: string
  readonly mime: string
}

/** A tool's file in the store. */
export interface Kept {
  readonly fileId: string
  /** In bytes of the sealed content. */
  readonly size: number
  /** The path in the blob store; answers name it `s3Path`. */
  readonly path: string
}

/** The record of an indexed file. */
export interface IndexedRecord {
  readonly id: string
  /** Each indexing has a new one. */
  readonly version: string
  /** When the file was stored, in ms since 1970; absent from a gateway that does not tell. */
  readonly created?: number
}

/** The stores within one grant. The enclave asks for ciphertext and has no credentials of its own. */
export interface EnclaveFiles {
  /** Null when the caller has no such file. */
  file(id: string): Promise<EnclaveFile | null>
  /** The sealed content. */
  content(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>
  /** Stores a tool's file. Throws BadRequest when the chosen id is old or taken, or the quota is full. */
  keep(labels: MadeLabels, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Kept>
  /** The caller's indexed files, or the named ones. */
  indexes(ids: readonly string[] | null): Promise<readonly IndexedRecord[]>
  /** The sealed index of a file; null when the file has none. */
  index(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>
  /** Stores the index of a file. Throws NotFound outside of an indexing, so that a search writes nothing. */
  keepIndex(id: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
}

/** All facts that every gateway learns about a sealed call. A plugin that knows its enclave may extend them. */
export interface Trailer {
  /** The catalogue's id, never the caller's spelling. */
  readonly model: string | null
  /** The provider that answered; null when none was reached. */
  readonly backend: string | null
  /** Null when no model was called; an estimate says so itself. */
  readonly usage: Usage | null
  /** In seconds of the sound that is billed; null for calls without sound. */
  readonly audioSeconds: number | null
  /** The evidence under which this backend received the request; absent when none was required. */
  readonly proven?: BackendProof
}

/** `body` is one sealed answer or a failure; `frames` is a sealed stream. */
export type SealedReply =
  | {
      readonly kind: 'body'
      readonly status: number
      readonly body: Readonly<Record<string, unknown>>
      /** Fixed words for a failure after opening; the body contains the exact reason, sealed. */
      readonly failure: string | null
      /** In ms: the time after which a failure may be over. Null when no time helps; absent when none is known. */
      readonly retryAfter?: number | null
      readonly trailer: Trailer
    }
  | {
      readonly kind: 'frames'
      /** Frames in hex. The last frame tells whether the answer is complete. */
      readonly frames: AsyncIterable<string>
      /** Resolves when the frames have ended. */
      readonly trailer: Promise<Trailer>
    }

/** In bytes: the longest sealed body that is passed whole, 32 MiB in hex and the other fields. */
export const longestSealed = 65 * 1024 * 1024

/**
 * The only part that sees plaintext. Its input is sealed and its output is sealed for the caller: the gateway sees only
 * sizes and times.
 */
export interface Enclave {
  /** The keyset without a challenge. `enclave` names one of several; the gateway chooses when it is absent. */
  keys(enclave?: string): Promise<Keyset>
  /** Fresh evidence over the same keyset. `challenge` is 32 bytes. */
  attest(challenge: Uint8Array, enclave?: string): Promise<Keyset>
  /** The served models; all of them are confidential. */
  models(signal: AbortSignal): Promise<readonly { readonly name: string; readonly settings: ModelSettings }[]>
  /**
   * `sealed` is the unchanged body: parsed, or the bytes of a long JSON body, whole or as a stream, perhaps of a known
   * length. Throws BadRequest, Expired, NotFound or Unavailable with messages of the catalogue only.
   */
  handle(
    route: string,
    sealed: Readonly<Record<string, unknown>> | Uint8Array | (AsyncIterable<Uint8Array> & { readonly length?: number }),
    grant: Grant,
    signal: AbortSignal,
    /** For routes that work with stored files. */
    enclaveFiles?: EnclaveFiles,
  ): Promise<SealedReply>
  /** Signed lists of accepted releases; absent when the gateway has none. */
  signedLists?(): Promise<{ readonly releases: SignedFile | null; readonly notices: SignedFile | null }>
  /** Ends the connection to the enclave. The enclave's keys are lost with its process. */
  dispose?(): Promise<void> | void
}

export const Enclave = one<Enclave>('Enclave', functions('keys', 'attest', 'models', 'handle'))
