/** A record, as the gateway keeps it. */
export interface FileRecord {
  readonly id: string
  /** `1`: sealed in one piece. `2`: sealed in chunks. */
  readonly version: string
  /** The name of the KEK that wraps the file's key. */
  readonly kid: string
  /** In hex. */
  readonly wrapped_dek: string
  readonly file_name: string
  readonly file_path: string
  /** In bytes of the sealed content. */
  readonly file_size: number
  /** The sealed type, in hex, like `original_name`, the sealed name. */
  readonly mime_type: string
  readonly original_name: string
  /** True when an upload found an equal file, whose record this is. */
  readonly is_duplicate: boolean
  /** `YYYY-MM-DD HH:MM:SS.mmm`, UTC. */
  readonly created_at: string
  /** Null until the file is bound or its key is wrapped anew. */
  readonly updated_at: string | null
  /** The keyed hash of the plaintext; null when the file takes no part in the search for duplicates. */
  readonly client_hash: string | null
  /** Proves to the client that the record is its own; null when the file is not bound. */
  readonly binding?: string | null
  readonly type_hint: FileType
  /** The state of the index; only `completed` files, and files that are indexed anew, are found. */
  readonly rag_status: 'none' | 'pending' | 'running' | 'completed' | 'failed'
  /** Why the indexing failed, as one word such as `unreadable_file`; null in each other state. */
  readonly rag_error?: string | null
}

/** Kinds of files in the clear, which a client may reveal so that the list can filter. */
export const fileTypes = ['image', 'document', 'video', 'audio', 'archive', 'general'] as const
export type FileType = (typeof fileTypes)[number]

/** A record together with the labels that only the client can read. */
export interface SealedFile extends FileRecord {
  readonly name: string
  readonly mime: string
  /**
   * True when the KEK's owner vouches for id, key and content together. An unbound file may be another file of the same
   * owner.
   */
  readonly bound: boolean
}

/** A downloaded file with its labels opened; its content is opened while it arrives. */
export interface OpenedFile extends SealedFile {
  /** Throws when a byte was changed, removed or added. The stream can be read once. */
  readonly content: AsyncIterable<Uint8Array>
  /** Reads the whole content at once. */
  bytes(): Promise<Uint8Array>
}

export interface UploadOptions {
  /** `general` when absent. */
  readonly type?: FileType
  /** The file is in no list, and the gateway removes it after its configured time. */
  readonly incognito?: boolean
  /** Indexes the file as soon as it is stored, also an equal file of before. */
  readonly index?: boolean
  readonly signal?: AbortSignal
  /** In bytes of the plaintext that were sealed and sent. */
  readonly onProgress?: (sent: number, size: number) => void
}

export interface DownloadOptions {
  readonly signal?: AbortSignal
  /** In bytes of the sealed content. */
  readonly onProgress?: (read: number, size: number) => void
}

/** Which files are listed; newest first. */
export interface ListOptions {
  readonly limit?: number
  readonly offset?: number
  readonly type?: FileType
  /** A file's id, its key's id, or its exact name. */
  readonly search?: string
  /** ISO dates. */
  readonly from?: string
  readonly to?: string
}

/** One page of files. */
export interface FileList {
  readonly files: readonly SealedFile[]
  /** Records that this client refuses: of another KEK, damaged, older than remembered, or wrongly unbound. */
  readonly locked: readonly FileRecord[]
  /** Counts all pages. */
  readonly total: number
}
