import { createHash } from 'node:crypto'
import type { Pace } from '../../../core/dialects/loop-time.ts'
import { gatheredBytes } from '../../../core/gathered-bytes.ts'
import type { Supplied } from '../../../core/container.ts'
import { readerOf } from '../../shared/find-reader.ts'
import { Unconfigured } from '../../../core/errors.ts'
import type { QueueLimits } from '../../shared/errand.ts'
import { type ShareHolder, type Shares, fairShares } from '../../shared/fair-shares.ts'
import { inTurns } from '../../shared/work-in-turns.ts'
import { runForTool } from '../../shared/run-for-tool.ts'
import type { workNeeds } from '../../shared/work-needs.ts'
import type { Reader } from '../../../core/ports/reader.ts'
import type { SealedReply, EnclaveFiles, IndexedRecord } from '../../../core/ports/enclave.ts'
import type { Hits, OpenFile, SearchBounds } from '../../../core/ports/tool.ts'
import { type SearchIndex, searchIndex } from '../retrieval/search-index.ts'
import { embeddedTextOf, splitSections } from '../retrieval/split.ts'
import { isTitled, titleOf } from './file-title.ts'
import { openRows, sealRows } from './index-file.ts'
import type { IndexTask } from './index-request.ts'
import { Refusal } from './refusals.ts'
import { refusalOf, emptyTrailer } from './reply.ts'
import { type ReserveMemory, keyOf, recordOf, withStoredFile } from './open-stored-file.ts'

/** A search as a tool asks for it. */
export interface Sought extends SearchBounds {
  readonly query: string
  /** Null means all indexed files. */
  readonly ids: readonly string[] | null
}

/** Searches the caller's indexed files. An index that does not open under the key is passed over. */
export type Search = (
  enclaveFiles: EnclaveFiles,
  ragDek: Uint8Array,
  sought: Sought,
  signal: AbortSignal,
) => Promise<Hits>

/** Who indexes or searches, and the time of the main loop that is theirs. */
export interface Indexer {
  readonly holder: ShareHolder
  readonly pace: Pace
}

interface Settings {
  /** The embedding model; without one, search compares words only. */
  readonly model?: string | undefined
  /** In bytes: the opened indexes kept in memory, and those that one search may open. */
  readonly cache: number
  readonly most: number
  readonly mostFile: number
  readonly queue: QueueLimits
}

/** The caller's files, and memory for them. */
interface Room {
  readonly enclaveFiles: EnclaveFiles
  readonly makeRoom: ReserveMemory
}

/** A waiting indexing holds only its keys, so its queue is longer. One request brings up to a thousand files. */
const longer = ({ all, organization }: QueueLimits): QueueLimits => ({ all: 8 * all, organization: 16 * organization })

/** One caller's opened indexes, under the key that opened them. */
interface Shelved {
  readonly library: SearchIndex
  readonly versions: Map<string, string>
}

/** Texts of one call of the embedding model. */
const batch = 32
/** Results of a search; a tool shows fewer when it is asked to. */
const mostHits = 20

/** What indexing and search of one enclave have. */
interface Retrieving {
  readonly supplied: Supplied<typeof workNeeds>
  readonly readers: readonly Reader[]
  readonly settings: Settings
  /** One file at a time: the whole file is in memory, and its parser needs the other core. */
  readonly turns: Shares
  /** Searches that open indexes: the indexes of a search are in memory until it ends. */
  readonly opening: Shares
  /** The opened indexes by the hash of their key, the least recently used first. */
  readonly held: Map<string, Shelved>
}

/** Indexing and search with the retrieval key. Opened indexes stay in this memory. */
export const retrieval = (supplied: Supplied<typeof workNeeds>, readers: readonly Reader[], settings: Settings) => {
  const retrieving: Retrieving = {
    ...{ supplied, readers, settings, held: new Map() },
    turns: fairShares({ all: 1, organization: 1, key: 1 }),
    opening: fairShares({ all: 4, organization: 1, key: 1 }),
  }
  const searchFor =
    (indexer: Indexer): Search =>
    async (enclaveFiles, ragDek, sought, signal) => {
      const { query, name, characters } = sought
      const meaning = vectorsOf(retrieving, [query], signal)
      const searching = withIndexes(
        retrieving,
        { ...indexer, enclaveFiles, ragDek },
        sought,
        signal,
        async ({ library }, records) => {
          const { vectors, model } = await meaning
          const named = records.filter(({ id }) => name === undefined || isTitled(library.titleOf(id), name))
          const question = { vector: vectors[0] ?? null, model, fileIds: named.map(({ id }) => id) }
          const wanted = { ...question, query, most: mostHits, ...(characters !== undefined && { characters }) }
          const found = await inTurns(library.search(wanted), indexer.pace, signal)
          const created = new Map(named.map((record) => [record.id, record.created ?? null]))
          const hits = found.map((hit) => ({ ...hit, created: created.get(hit.fileId) ?? null }))
          return Object.assign(hits, { outdated: library.outdated(question) })
        },
      )
      const [hits] = await Promise.all([searching, meaning])
      return hits
    }
  return {
    /** With one file, its failure is the request's failure. With several files, each has its own result. */
    async index(
      tasks: readonly IndexTask[],
      listed: boolean,
      indexer: Indexer,
      room: Room,
      signal: AbortSignal,
    ): Promise<SealedReply> {
      const completed = async (task: IndexTask) => {
        await indexOne(retrieving, task, indexer, room, signal)
        return { file_id: task.id, code: 'completed' }
      }
      const [only] = tasks
      if (!listed && only !== undefined) return ended(await completed(only))
      const failed = (task: IndexTask) => (error: unknown) => {
        signal.throwIfAborted()
        return { file_id: task.id, code: refusalOf(error).code }
      }
      return ended({ files: await Promise.all(tasks.map((task) => completed(task).catch(failed(task)))) })
    },
    searchFor,
  }
}

/** The answer is in the clear: it holds ids and codes, and no text of a file. */
const ended = (body: Readonly<Record<string, unknown>>): SealedReply => ({
  kind: 'body',
  status: 200,
  body,
  failure: null,
  trailer: emptyTrailer,
})

/** Every vector is null when no model makes vectors; search then compares words only. */
const vectorsOf = async (retrieving: Retrieving, texts: readonly string[], signal: AbortSignal) => {
  const { model } = retrieving.settings
  if (model === undefined) return { model: null, vectors: texts.map(() => null) }
  const vectors: Float32Array[] = []
  let named = model
  try {
    for (let at = 0; at < texts.length; at += batch) {
      const part = texts.slice(at, at + batch)
      const { answer, model: maker } = await runForTool(
        retrieving.supplied,
        { ability: 'embed', model: named },
        ({ upstream, model }, signal) => upstream.embed({ model, texts: part }, signal),
        ({ usage }) => ({ usage }),
        signal,
      )
      vectors.push(...answer.vectors)
      // All vectors of one index come from one model, even after a change of the configuration.
      named = maker
    }
    return { model: vectors.length > 0 ? named : null, vectors }
  } catch (error) {
    if (error instanceof Unconfigured) return { model: null, vectors: texts.map(() => null) }
    throw error
  }
}

/** Organisations take turns. */
const indexOne = async (
  retrieving: Retrieving,
  { id, dek: filePart, ragDek: ragPart }: IndexTask,
  { holder, pace }: Indexer,
  { enclaveFiles, makeRoom }: Room,
  signal: AbortSignal,
): Promise<void> => {
  const dek = keyOf(filePart, 'encrypted_file_dek', id)
  const { key: ragDek } = keyOf(ragPart, 'encrypted_rag_dek', id)
  const record = await recordOf(enclaveFiles, id)
  const release = await retrieving.turns.take(holder, 1, longer(retrieving.settings.queue), signal)
  try {
    const file = { enclaveFiles, makeRoom, id, record, dek, most: retrieving.settings.mostFile }
    const read = (opened: OpenFile) => readerOf(retrieving.readers, opened).read(opened, signal)
    const { passages, title } = await withStoredFile(file, signal, async (opened) => {
      const { sections } = await read(opened)
      return { passages: await inTurns(splitSections(sections), pace, signal), title: titleOf(opened.name) }
    })
    const { model: maker, vectors } = await vectorsOf(retrieving, passages.map(embeddedTextOf), signal)
    const rows = passages.map((passage, at) => ({ ...passage, vector: vectors[at] ?? null, model: maker, title }))
    await enclaveFiles.keepIndex(id, sealRows(ragDek, id, rows, pace), signal)
  } finally {
    release()
  }
}

interface Searcher extends Indexer {
  readonly enclaveFiles: EnclaveFiles
  readonly ragDek: Uint8Array
}

/** Works with the caller's current indexes of the time that is asked for. An unchanged index is not read again. */
const withIndexes = async <T>(
  { held, opening, settings }: Retrieving,
  searcher: Searcher,
  { ids, from, to }: Sought,
  signal: AbortSignal,
  work: (mine: Shelved, records: readonly IndexedRecord[]) => Promise<T>,
): Promise<T> => {
  const key = createHash('sha256').update(searcher.ragDek).digest('hex')
  const current = await searcher.enclaveFiles.indexes(ids)
  const there = current.filter(isOfTime(from, to))
  const isOpen = there.every(({ id, version }) => held.get(key)?.versions.get(id) === version)
  const release = isOpen ? () => {} : await opening.take(searcher.holder, 1, longer(settings.queue), signal)
  try {
    let mine = held.get(key) ?? emptyShelf()
    if (ids === null) {
      const known = new Set(current.map(({ id }) => id))
      for (const id of mine.versions.keys()) if (!known.has(id)) forget(mine, id)
    }
    if (!(await isFilled(mine, there, searcher, settings.most, signal))) {
      held.delete(key)
      // Files of other searches count for none of this one, which begins again without them.
      const own = new Set(there.map(({ id }) => id))
      const isAlone = [...mine.versions.keys()].every((id) => own.has(id))
      mine = emptyShelf()
      if (isAlone || !(await isFilled(mine, there, searcher, settings.most, signal)))
        throw new Refusal('too_large', 'fileIds')
    }
    held.delete(key)
    // Files outside this query are dropped only with the whole library, since other searches may use them.
    const stale = mine.versions.size > there.length && mine.library.size > settings.cache
    if (mine.versions.size > 0 && !stale) held.set(key, mine)
    evict(held, settings.cache)
    return await work(mine, there)
  } finally {
    release()
  }
}

const openIndex = async (
  mine: Shelved,
  { id, version }: IndexedRecord,
  { enclaveFiles, ragDek, pace }: Searcher,
  signal: AbortSignal,
): Promise<void> => {
  forget(mine, id)
  const sealed = await enclaveFiles.index(id, signal)
  const rows = sealed && (await inTurns(openRows(ragDek, id, await whole(sealed)), pace, signal))
  if (rows) {
    const placed = rows.map(({ vector, text, heading, page }) => ({ passage: { text, heading, page }, vector }))
    const about = { model: rows[0]?.model ?? null, title: rows[0]?.title ?? null }
    await inTurns(mine.library.put(id, placed, about), pace, signal)
  }
  mine.versions.set(id, version)
}

const emptyShelf = (): Shelved => ({ library: searchIndex(), versions: new Map() })

/** Opens what the shelf lacks of these files. False as soon as it holds more than one search may. */
const isFilled = async (
  mine: Shelved,
  there: readonly IndexedRecord[],
  searcher: Searcher,
  most: number,
  signal: AbortSignal,
): Promise<boolean> => {
  for (const record of there) {
    if (mine.versions.get(record.id) !== record.version) await openIndex(mine, record, searcher, signal)
    if (mine.library.size > most) return false
  }
  return true
}

/** A file whose time is unknown is of no time that is asked for. */
const isOfTime =
  (from: number | undefined, to: number | undefined) =>
  ({ created = NaN }: IndexedRecord): boolean =>
    (from === undefined || created >= from) && (to === undefined || created < to)

/** A version that is forgotten makes the next search read the index again. */
const forget = ({ library, versions }: Shelved, id: string): void => {
  library.remove(id)
  versions.delete(id)
}

/** Drops the least recently used indexes first, until at most so many bytes are held. */
const evict = (held: Map<string, Shelved>, most: number): void => {
  let size = 0
  for (const [key, { library }] of [...held].reverse()) {
    size += library.size
    if (size > most && held.size > 1) held.delete(key)
  }
}

const whole = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const bytes = gatheredBytes()
  for await (const part of parts) bytes.add(part)
  const { buffer, byteOffset, length } = bytes.whole()
  return new Uint8Array(buffer, byteOffset, length)
}
