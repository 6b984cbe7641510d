import { hashing } from '#aead'
import { utf8, fromHex, toHex } from '../wire/bytes.ts'
import { openLabel } from '../wire/file.ts'
import { pathFor } from './http-request.ts'
import { exactContent, openedContent, storedContent } from './content.ts'
import { SealgateError } from './error.ts'
import type {
  DownloadOptions,
  FileRecord,
  ListOptions,
  FileList,
  OpenedFile,
  SealedFile,
  UploadOptions,
} from './file-shapes.ts'
import type { FileContext, CheckedRecord } from './record-checks.ts'
import type { SealParts } from './send-sealed.ts'
import { type Sendable, countedBytes, joinedBytes } from './byte-source.ts'
import { uploader } from './upload.ts'

/** Stored files with all their checks. Methods throw SealgateError for each fault. */
export interface FileAccess {
  /** The record as the gateway sends it, without any check. */
  record(id: string, signal?: AbortSignal): Promise<FileRecord>
  /** The checked record. Throws when the record has another id or does not hold. */
  checked(id: string, signal?: AbortSignal): Promise<CheckedRecord>
  /** Opens the labels. Throws `damaged` when one does not open. */
  opened(checked: CheckedRecord): SealedFile
  /** Resolves when the content begins to arrive; a fault in it makes its stream throw. */
  download(id: string, options?: DownloadOptions): Promise<OpenedFile>
  /** Gives the older file when the owner already stored an equal one. */
  upload(file: Sendable, options?: UploadOptions): Promise<SealedFile>
  /** Checks every record. A record that does not hold stands in `locked`, and the others stay usable. */
  list(options?: ListOptions): Promise<FileList>
  /** Removes the file with its index. The memory notices a gateway that shows the file again. */
  remove(id: string): Promise<void>
  /** Reads the whole content and compares it with the stored hash. Throws when the content does not open. */
  verify(id: string, options?: DownloadOptions): Promise<boolean>
}

/** Seals and opens files on this machine. */
export const fileAccess = (context: FileContext, sealParts: SealParts): FileAccess => {
  const { ask, keys, memory, checks } = context
  const record = (id: string, signal?: AbortSignal) =>
    ask.data<FileRecord>('GET', pathFor`files/encrypted/${id}`, signal ? { signal } : {})

  const checked = async (id: string, signal?: AbortSignal): Promise<CheckedRecord> => {
    const found = await record(id, signal)
    // A valid record of another file is refused, too.
    if (found.id !== id) throw new SealgateError('damaged')
    return checks.check(found)
  }

  return {
    record,
    checked,
    opened,
    download: async (id, options = {}) => fileOf(ask, await checked(id, options.signal), options),
    upload: uploader(context, sealParts, opened),
    list: (options) => listed(context, options),

    async remove(id) {
      await ask.data('DELETE', pathFor`files/encrypted/${id}`)
      await memory.forget(id)
    },

    async verify(id, options = {}) {
      const found = await checked(id, options.signal)
      const { client_hash, content } = await fileOf(ask, found, options)
      const hash = hashing()
      for await (const part of content) hash.update(part)
      const wanted = found.proof === null ? client_hash : found.proof.clientHash && toHex(found.proof.clientHash)
      return wanted === null || keys.hash(hash.digest()) === wanted
    },
  }
}

/** Throws where a label does not open under the key of the file. */
const opened = ({ record, dek, proof }: CheckedRecord): SealedFile => {
  const label = (which: 'name' | 'mime', hex: string): string => {
    const sealed = fromHex(hex, 1024)
    const text = sealed && openLabel(dek, which, sealed)
    if (text === null) throw new SealgateError('damaged')
    return text
  }
  const [name, mime] = [label('name', record.original_name), label('mime', record.mime_type)]
  return { ...record, name, mime, bound: proof !== null }
}

/** Null for a record that does not hold. */
const openable = (outcome: CheckedRecord | SealgateError): SealedFile | null => {
  if (outcome instanceof SealgateError) return null
  try {
    return opened(outcome)
  } catch (error) {
    if (error instanceof SealgateError && error.fault === 'damaged') return null
    throw error
  }
}

/** The size and hash of a bound file are compared before its last bytes are given on. */
const fileOf = async (
  ask: FileContext['ask'],
  checked: CheckedRecord,
  { signal, onProgress }: DownloadOptions,
): Promise<OpenedFile> => {
  const file = opened(checked)
  const { record: row, dek, proof } = checked
  const told = countedBytes(await storedContent(ask, row.id, signal), (bytes) => onProgress?.(bytes, row.file_size))
  const sealed = proof === null ? told : exactContent(told, { size: row.file_size, hash: proof.hash })
  const content = openedContent(row.version, dek, sealed, signal ?? null)
  return { ...file, content, bytes: () => joinedBytes(content) }
}

/** The forms of a file's id and of a key's id, which go out as they are. Names go out as tags alone. */
const idForm = /^(?:file_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/

const listed = async ({ ask, keys, checks }: FileContext, { search, ...rest }: ListOptions = {}): Promise<FileList> => {
  const named = search === undefined || idForm.test(search)
  const tag = named ? search : keys.hash(utf8(`name\0${search}`)).slice(0, 32)
  const query = new URLSearchParams(
    Object.entries({ ...rest, ...(tag !== undefined && { search: tag }) }).map(([name, value]) => [
      name,
      String(value),
    ]),
  )
  const answer = await ask.data<{ files: FileRecord[]; pagination: { total: number } }>(
    'GET',
    `files/encrypted?${query}`,
  )
  const all = (await checks.checkAll(answer.files)).map(openable)
  return {
    files: all.flatMap((file) => file ?? []),
    locked: answer.files.filter((_, at) => all[at] === null),
    total: answer.pagination.total,
  }
}
