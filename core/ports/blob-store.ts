import { one } from '../container.ts'

/** First and last byte, both inclusive; without `end` to the end. */
export interface Range {
  readonly start: number
  readonly end?: number
}

/** Opaque bytes under a path. Never sees plaintext. Bytes always travel as streams: a file is never held whole. */
export interface BlobStore {
  /** Replaces the file. Resolves when the bytes are durable and a `get` from anywhere would see them; a broken source leaves the old bytes. */
  put(path: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<{ readonly size: number }>
  /** `null` when nothing is there; throws only when the store itself fails. `size` is that of the whole; a range past the end gives no bytes. */
  get(
    path: string,
    range?: Range | null,
    signal?: AbortSignal,
  ): Promise<{ readonly size: number; readonly bytes: AsyncIterable<Uint8Array> } | null>
  /** Removing a missing file is not an error. */
  remove(path: string): Promise<void>
  /** Paths under a prefix, in the order of their bytes, for the sweep. What is being put is not listed. */
  list(prefix: string): AsyncIterable<string>
  /** A link that works without us for `ttl` ms; absent where the store has none. */
  link?(path: string, ttl: number): Promise<string>
  dispose?(): Promise<void>
}

export const BlobStore = one<BlobStore>('BlobStore')
