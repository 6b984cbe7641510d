import { randomBytes } from '@noble/hashes/utils.js'
import { concat, utf8 } from '../wire/bytes.ts'
import { openContent, openLabel, openWhole, sealContent, sealLabel, sealWhole, sealedLength } from '../wire/file.ts'
import { fromHex, toHex } from '../wire/hex.ts'
import { type Ask, pathFor } from './ask.ts'
import { SealgateError } from './error.ts'
import { formStream } from './form-stream.ts'
import { type Keys, digesting } from './keys.ts'
import type { SealParts } from './send.ts'
import { type Sendable, type Source, counted, gathered, once, read, sourceOf } from './source.ts'

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
  readonly type_hint: FileType
  readonly rag_status: 'none' | 'pending' | 'running' | 'completed' | 'failed'
}

export const fileTypes = ['image', 'document', 'video', 'audio', 'archive', 'general'] as const
export type FileType = (typeof fileTypes)[number]

/** With what only the client can read of it. */
export interface SealedFile extends FileRecord {
  readonly name: string
  readonly mime: string
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
  /** Those that this KEK does not open: they are under another one, or damaged. */
  readonly locked: readonly FileRecord[]
  /** Of all pages. */
  readonly total: number
}

const chunked = 1024 * 1024
const big = 'encrypted_content'

export interface FileAccess {
  record(id: string, signal?: AbortSignal): Promise<FileRecord>
  /** The key of a file's content, from its record and the KEK alone. */
  dekOf(record: FileRecord): Uint8Array
  opened(record: FileRecord): SealedFile
  download(id: string, options?: DownloadOptions): Promise<OpenedFile>
  upload(file: Sendable, options?: UploadOptions): Promise<SealedFile>
  list(options?: ListOptions): Promise<Listed>
  remove(id: string): Promise<void>
  /** Whether the content is what was stored under its hash: reads all of it. Throws when it does not open. */
  verify(id: string, options?: DownloadOptions): Promise<boolean>
}

/** Files that are sealed here and opened here. */
export const fileAccess = (ask: Ask, keys: Keys, sealParts: SealParts): FileAccess => {
  const dekOf = ({ wrapped_dek, kid }: FileRecord) => keys.unwrap(wrapped_dek, kid)

  const opened = (record: FileRecord): SealedFile => {
    const dek = dekOf(record)
    const label = (which: 'name' | 'mime', hex: string): string => {
      const sealed = fromHex(hex, 1024)
      const text = sealed && openLabel(dek, which, sealed)
      if (text === null) throw new SealgateError('damaged')
      return text
    }
    return { ...record, name: label('name', record.original_name), mime: label('mime', record.mime_type) }
  }

  const openable = (record: FileRecord): SealedFile | null => {
    try {
      return opened(record)
    } catch (error) {
      if (error instanceof SealgateError && (error.fault === 'wrong_key' || error.fault === 'damaged')) return null
      throw error
    }
  }

  const record = (id: string, signal?: AbortSignal) =>
    ask.data<FileRecord>('GET', pathFor`files/encrypted/${id}`, signal ? { signal } : {})

  const contentOf = async (
    it: FileRecord,
    { signal, onProgress }: DownloadOptions,
  ): Promise<AsyncIterable<Uint8Array>> => {
    const dek = dekOf(it)
    const answer = await ask.raw('GET', pathFor`files/encrypted/${it.id}/content`, signal ? { signal } : {})
    if (answer.body === null) throw new SealgateError('truncated')
    const sealed = counted(read(answer.body), (bytes) => onProgress?.(bytes, it.file_size))
    return it.version === '2' ? sound(openContent(dek, sealed)) : opening(dek, sealed)
  }

  const download = async (id: string, options: DownloadOptions = {}): Promise<OpenedFile> => {
    const it = opened(await record(id, options.signal))
    const content = await contentOf(it, options)
    return { ...it, content, bytes: () => gathered(content) }
  }

  return {
    record,
    dekOf,
    opened,
    download,

    async upload(file, options = {}) {
      const source = sourceOf(file)
      const digest = await digestOf(source)
      const dek = randomBytes(32)
      const fields = {
        client_hash: keys.hash(digest),
        incognito: String(options.incognito === true),
        kid: keys.kid,
        wrapped_dek: keys.wrap(dek),
        encrypted_name: toHex(sealLabel(dek, 'name', source.name)),
        mime_type: toHex(sealLabel(dek, 'mime', source.mime)),
        version: source.size > chunked ? '2' : '1',
        name_tag: keys.hash(utf8(`name\0${source.name}`)).slice(0, 32),
        ...(options.type && { type_hint: options.type }),
        // Nobody says afterwards that they were sealed to a key that is over, so it is asked for first.
        ...(options.index &&
          (await indexFields((names, parts) => sealParts(names, parts, true), dek, keys.ragDek(), ''))),
      }
      const told = (sent: number) => options.onProgress?.(sent, source.size)
      const content =
        source.size > chunked
          ? { size: sealedLength(source.size), open: () => sealContent(dek, counted(source.open(), told)) }
          : whole(sealWhole(dek, await gathered(counted(source.open(), told))))
      const form = formStream(fields, { name: big, ...content }, `sealed-${toHex(randomBytes(16))}`)
      const kept = await ask.data<FileRecord>('POST', 'files/encrypted/upload', {
        form,
        ...(options.signal && { signal: options.signal }),
      })
      return opened(kept)
    },

    async list({ search, ...rest } = {}) {
      const named = search === undefined || /^file_|^[0-9a-f]{32}$/.test(search)
      const tag = named ? search : keys.hash(utf8(`name\0${search}`)).slice(0, 32)
      const query = new URLSearchParams(
        Object.entries({ ...rest, ...(tag !== undefined && { search: tag }) }).map(([name, value]) => [
          name,
          String(value),
        ]),
      )
      const said = await ask.data<{ files: FileRecord[]; pagination: { total: number } }>(
        'GET',
        `files/encrypted?${query}`,
      )
      const all = said.files.map((record) => ({ record, file: openable(record) }))
      return {
        files: all.flatMap(({ file }) => file ?? []),
        locked: all.flatMap(({ record, file }) => (file === null ? [record] : [])),
        total: said.pagination.total,
      }
    },

    remove: async (id) => void (await ask.data('DELETE', pathFor`files/encrypted/${id}`)),

    async verify(id, options = {}) {
      const { client_hash, content } = await download(id, options)
      const hash = digesting()
      for await (const part of content) hash.update(part)
      return client_hash === null || keys.hash(hash.digest()) === client_hash
    },
  }
}

/** A key for the enclave names the file that it is for, where that has a name already. */
export const indexFields = async (
  sealParts: SealParts,
  dek: Uint8Array,
  ragDek: Uint8Array,
  fileId: string,
): Promise<Readonly<Record<string, string>>> => {
  const { body } = await sealParts(
    { params: null, kid: 'enclave_kid', cipherText: 'cipher_text' },
    {
      encrypted_file_dek: { bytes: concat(dek, utf8(fileId)), nonce: 'file_nonce' },
      encrypted_rag_dek: { bytes: concat(ragDek, utf8(fileId)), nonce: 'rag_dek_nonce' },
    },
  )
  return body as Readonly<Record<string, string>>
}

const whole = (sealed: Uint8Array) => ({ size: sealed.length, open: () => once(sealed) })

const digestOf = async (source: Source): Promise<Uint8Array> => {
  const hash = digesting()
  for await (const part of source.open()) hash.update(part)
  return hash.digest()
}

async function* opening(dek: Uint8Array, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const plain = openWhole(dek, await gathered(sealed))
  if (plain === null) throw new SealgateError('damaged')
  yield plain
}

async function* sound(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* parts
  } catch (cause) {
    throw cause instanceof SealgateError ? cause : new SealgateError('damaged', { cause })
  }
}
