import { functions, one } from '../container.ts'

/** The first and the last byte, both inclusive; without `end`, up to the end of the file. */
export interface Range {
  readonly start: number
  /** In bytes, counted from 0 like `start`. */
  readonly end?: number
}

/** Opaque bytes under a path, always in streams: a store never sees plaintext, and never holds a file whole. */
export interface BlobStore {
  /**
   * Replaces the file. Resolves when the bytes are durable and visible to every `get`. A broken source leaves the old
   * bytes.
   */
  put(path: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<{ readonly size: number }>
  /**
   * Null when the file is missing; throws only when the store itself fails. `size` is the size of the whole file. A
   * range after the end gives no bytes.
   */
  get(
    path: string,
    range?: Range | null,
    signal?: AbortSignal,
  ): Promise<{ readonly size: number; readonly bytes: AsyncIterable<Uint8Array> } | null>
  /** Removing a missing file is not an error. */
  remove(path: string): Promise<void>
  /** Paths under a prefix, in the order of their bytes, for the sweep. Unfinished files are not listed. */
  list(prefix: string): AsyncIterable<string>
  /** A link to the store itself, valid for `ttl` ms. Absent when the store offers no links. */
  link?(path: string, ttl: number): Promise<string>
  /** Closes connections. Streams that a caller still reads may break. */
  dispose?(): Promise<void>
}

/** All processes of a gateway share one store: a file written by one process is read by another. */
export const BlobStore = one<BlobStore>('BlobStore', functions('put', 'get', 'remove', 'list'))
