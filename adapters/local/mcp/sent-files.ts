import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { extname } from 'node:path'
import * as v from 'valibot'
import type { Files } from '../../../plugins/sealed/client/client.ts'
import { isThere } from '../../../plugins/sealed/client/index-and-rotate.ts'
import { type MemoryFile, jsonOf } from '../key-file.ts'
import { mimeOf } from '../mimes.ts'
import type { CallContext } from '../../../plugins/shared/dialects/mcp/protocol.ts'
import { Refusal } from './refusal.ts'
import type { LocalFile, OpenFile } from './roots.ts'

/** Bytes of one read. */
const chunk = 64 * 1024

/** Reads as many bytes as the file had when it was opened. Throws when the file became shorter. */
async function* bytesOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size;) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(chunk, size - at)), 0, null, at)
    if (bytesRead === 0) throw new Refusal('The file changed while it was read')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** The file is hashed before and after sending: another hash shows that it changed in between. */
const hashOf = async ({ handle, size }: LocalFile): Promise<Buffer> => {
  const hash = createHash('sha256')
  for await (const part of bytesOf(handle, size)) hash.update(part)
  return hash.digest()
}

/** A path of this form is taken for an id, and its file can then only be named with a folder. */
const isFileId = (text: string): boolean => /^file_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

const Ids = v.record(v.string(), v.string())

/** Throws with the file's name and never with its content. */
const storedIds = async ({ file, load }: MemoryFile): Promise<Map<string, string>> => {
  const result = v.safeParse(Ids, jsonOf((await load()) ?? '{}'))
  if (!result.success) throw new Error(`${file} is damaged; without it, each file is sent once more`)
  return new Map(Object.entries(result.output))
}

/** Ids by a keyed hash of the content. The key is derived from the KEK, so a reader of the store learns no content. */
const memoryOf = async (store: SentFilesOptions['store'], kek: string) => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(kek, 'hex'), '', 'sealgate/mcp-sent', 32))
  const known = store === null ? new Map<string, string>() : await storedIds(store)
  let turn: Promise<void> = Promise.resolve()
  return {
    nameOf: (hash: Buffer, mime: string) => createHmac('sha256', key).update(hash).update(mime).digest('hex'),
    get: async (name: string) => known.get(name) ?? null,
    async put(name: string, id: string): Promise<void> {
      const text = JSON.stringify(Object.fromEntries(known.set(name, id)))
      const saving = turn.then(() => store?.save(text))
      // A failed save rejects for its own caller alone, and the next one writes every id again.
      turn = saving.catch(() => undefined)
      await saving
    },
  }
}

/** What this program has sent, so that a file which an agent names often is sealed and stored once. */
export interface SentFiles {
  /**
   * The id under which the file's content is stored, or the given id itself. `again` sends a known file once more. `held`
   * throws where the gateway has a known file no more.
   */
  idOf(
    path: string,
    context: CallContext,
    wish?: { readonly index?: boolean; readonly again?: boolean; readonly held?: boolean },
  ): Promise<string>
  isId(path: string): boolean
  /** Removes the files that belong to this session only. */
  end(): Promise<void>
}

/** The key of the memory comes from `kek`, 32 bytes in hex. */
export interface SentFilesOptions {
  readonly files: Files
  readonly openFile: OpenFile
  readonly kek: string
  /** Null when keys and files live for one session. */
  readonly store: MemoryFile | null
}

const unindexed = () => new Refusal('The file could not be indexed')

const removeAll = async (files: SentFilesOptions['files'], ids: Iterable<string>): Promise<void> => {
  await Promise.all([...ids].map((id) => isThere(files.remove(id))))
}

/** Seals and sends local files. The same content is sent once. Rejects when the file of the store is damaged. */
export const sentFiles = async ({ files, openFile, kek, store }: SentFilesOptions): Promise<SentFiles> => {
  const memory = await memoryOf(store, kek)
  const sending = new Map<string, Promise<string>>()
  const own = new Set<string>()

  const indexed = async (id: string, signal: AbortSignal): Promise<void> => {
    const [begun] = await files.index([id], signal)
    if (!begun?.success) throw unindexed()
  }

  const upload = async (
    file: LocalFile,
    mime: string,
    hash: Buffer,
    index: boolean,
    context: CallContext,
  ): Promise<string> => {
    const { handle, name, size } = file
    const source = { name, mime, size, open: () => bytesOf(handle, size) }
    const options = { index, incognito: store === null, signal: context.signal, onProgress: context.progress }
    const kept = await files.upload(source, options)
    if (kept.is_duplicate && index && kept.rag_status === 'failed') throw unindexed()
    if (store === null) own.add(kept.id)
    if (hash.equals(await hashOf(file))) return kept.id
    await files.remove(kept.id)
    throw new Refusal('The file changed while it was read')
  }

  const idOfPath: SentFiles['idOf'] = async (path, told, { index = false, again = false, held = false } = {}) => {
    const file = await openFile(path)
    try {
      const hash = await hashOf(file)
      const mime = mimeOf(extname(file.name))
      const name = memory.nameOf(hash, mime)
      // The second of two calls with the same file waits for the first. When the first is cancelled, the second sends
      // the file.
      const before = (await sending.get(name)?.catch(() => null)) ?? null
      const known = before ?? (again ? null : await memory.get(name))
      if (known !== null) {
        if (index) await indexed(known, told.signal)
        else if (held) await files.record(known, told.signal)
        return known
      }
      const sent = upload(file, mime, hash, index, told)
      sending.set(name, sent)
      const id = await sent.finally(() => sending.delete(name))
      await memory.put(name, id)
      return id
    } finally {
      await file.handle.close()
    }
  }

  return {
    isId: isFileId,
    idOf: async (path, told, wish) => (isFileId(path) ? path : idOfPath(path, told, wish)),
    end: () => removeAll(files, own),
  }
}
