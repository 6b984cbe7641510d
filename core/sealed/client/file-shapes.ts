/** A record as the gateway keeps it. */
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
  /** By which the client knows the record for its own; null for a file that is not bound. */
  readonly binding?: string | null
  readonly type_hint: FileType
  readonly rag_status: 'none' | 'pending' | 'running' | 'completed' | 'failed'
}

export const fileTypes = ['image', 'document', 'video', 'audio', 'archive', 'general'] as const
export type FileType = (typeof fileTypes)[number]

/** With what only the client can read of it. */
export interface SealedFile extends FileRecord {
  readonly name: string
  readonly mime: string
  /** Whether the owner of the KEK vouches for id, key and content together; what is not bound may be another file of the same owner. */
  readonly bound: boolean
}

export interface OpenedFile extends SealedFile {
  /** Throws when anything was changed, cut off or added. Read it once. */
  readonly content: AsyncIterable<Uint8Array>
  /** The whole content at once. */
  bytes(): Promise<Uint8Array>
}

export interface UploadOptions {
  readonly type?: FileType
  readonly incognito?: boolean
  /** Have it indexed as soon as it is stored. */
  readonly index?: boolean
  readonly signal?: AbortSignal
  /** Bytes of the plaintext that were sealed and sent. */
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

export interface Listed {
  readonly files: readonly SealedFile[]
  /** Those that this client does not take: they are under another KEK, damaged, older than it remembers, or not bound where it wants that. */
  readonly locked: readonly FileRecord[]
  /** Of all pages. */
  readonly total: number
}
