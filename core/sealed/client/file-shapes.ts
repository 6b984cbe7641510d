/** A record, as the gateway keeps it. */
export interface FileRecord {
  readonly id: string
  readonly version: string
  readonly kid: string
  readonly wrapped_dek: string
  readonly file_name: string
  readonly file_path: string
  readonly file_size: number
  readonly mime_type: string
  readonly original_name: string
  readonly is_duplicate: boolean
  readonly created_at: string
  readonly updated_at: string | null
  readonly client_hash: string | null
  /** Proves to the client that the record is its own; null when the file is not bound. */
  readonly binding?: string | null
  readonly type_hint: FileType
  readonly rag_status: 'none' | 'pending' | 'running' | 'completed' | 'failed'
}

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

export interface OpenedFile extends SealedFile {
  /** Throws when a byte was changed, removed or added. The stream can be read once. */
  readonly content: AsyncIterable<Uint8Array>
  /** Reads the whole content at once. */
  bytes(): Promise<Uint8Array>
}

export interface UploadOptions {
  readonly type?: FileType
  readonly incognito?: boolean
  /** Indexes the file as soon as it is stored. */
  readonly index?: boolean
  readonly signal?: AbortSignal
  /** In bytes of the plaintext that were sealed and sent. */
  readonly onProgress?: (sent: number, size: number) => void
}

export interface DownloadOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (read: number, size: number) => void
}

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

export interface FileList {
  readonly files: readonly SealedFile[]
  /**
   * Records that this client refuses: under another KEK, damaged, older than remembered, or unbound where binding is
   * required.
   */
  readonly locked: readonly FileRecord[]
  /** Counts all pages. */
  readonly total: number
}
