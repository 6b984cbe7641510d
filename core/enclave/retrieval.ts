import { createHash } from 'node:crypto'
import type { Supplied } from '../container.ts'
import { sectionsOf } from '../extract/sections.ts'
import { Unconfigured } from '../errors.ts'
import { employ, type workNeeds } from '../inference/employ.ts'
import type { SealedReply, Shelf } from '../ports/enclave.ts'
import type { Hit } from '../ports/tool.ts'
import type { Thesaurus } from '../retrieval/kin.ts'
import { type Library, library } from '../retrieval/library.ts'
import { middleOf, soughtIn } from '../retrieval/query.ts'
import { readingOf, split } from '../retrieval/split.ts'
import { checks } from '../wire/body.ts'
import { concat } from '../wire/bytes.ts'
import type { Opened, Outer, Sealed } from './open.ts'
import { openRows, sealRows } from './rag-rows.ts'
import { silent } from './reply.ts'
import { keyOf, openStored, shelved } from './stored.ts'
import { thesaurus } from './thesaurus.ts'
import { turns } from './turns.ts'

export const indexOuter: Outer = {
  cipherText: { field: 'cipher_text', check: checks.lasting },
  params: null,
  parts: {
    encrypted_file_dek: { nonce: 'file_nonce', check: checks.key },
    encrypted_rag_dek: { nonce: 'rag_dek_nonce', check: checks.key },
  },
  kid: 'enclave_kid',
}

export type Search = (
  shelf: Shelf,
  ragDek: Uint8Array,
  query: string,
  ids: readonly string[] | null,
  signal: AbortSignal,
) => Promise<readonly Hit[]>

interface Settings {
  /** Of the embedding model; the first that is there when absent. */
  readonly model: string | undefined
  /** Bytes of opened indexes that are held. */
  readonly cache: number
  readonly mostFile: number
}

/** One caller's opened indexes, under the key that opened them. */
interface Shelved {
  readonly library: Library
  readonly versions: Map<string, string>
}

const batch = 32
const mostHits = 20

/** Indexing and search under the retrieval key. What is opened lives in this memory alone. */
export const retrieval = (supplied: Supplied<typeof workNeeds>, { model, cache, mostFile }: Settings) => {
  // One at a time: a file is held whole, and its parsers have the other core.
  const turn = turns()
  const held = new Map<string, Shelved>()
  let loaded: Promise<Thesaurus | null> | null = null

  /** Null for each where no model makes vectors: words alone are searched then. */
  const vectorsOf = async (
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | null)[]> => {
    const vectors: Float32Array[] = []
    try {
      for (let at = 0; at < texts.length; at += batch) {
        const part = texts.slice(at, at + batch)
        const work = { ability: 'embed', model } as const
        const { answer } = await employ(
          supplied,
          work,
          ({ upstream, model }, signal) => upstream.embed!({ model, texts: part }, signal),
          ({ usage }) => ({ usage }),
          signal,
        )
        vectors.push(...answer.vectors)
      }
      return vectors
    } catch (error) {
      if (error instanceof Unconfigured) return texts.map(() => null)
      throw error
    }
  }

  /** Organisations take turns. */
  const index = async (
    { parts }: Opened,
    outer: Sealed,
    organization: string,
    shelf: Shelf,
    signal: AbortSignal,
  ): Promise<SealedReply> => {
    const id = String(outer['file_id'])
    const dek = keyOf(parts['encrypted_file_dek']!, 'encrypted_file_dek', id)
    const ragDek = keyOf(parts['encrypted_rag_dek']!, 'encrypted_rag_dek', id)
    const record = await shelved(shelf, id)
    return turn(organization, async () => {
      const file = await openStored(shelf, id, record, dek, mostFile, signal)
      const passages = split(await sectionsOf(file, signal))
      const vectors = await vectorsOf(passages.map(readingOf), signal)
      const rows = passages.map((passage, at) => ({ ...passage, vector: vectors[at]! }))
      await shelf.keepIndex(id, sealRows(ragDek, id, rows), signal)
      return { kind: 'body', status: 200, body: { file_id: id, code: 'completed' }, failure: null, trailer: silent }
    })
  }

  /** The caller's indexes as they are now; what did not change is not read again. */
  const opened = async (shelf: Shelf, ragDek: Uint8Array, ids: readonly string[] | null, signal: AbortSignal) => {
    const key = createHash('sha256').update(ragDek).digest('hex')
    const mine = held.get(key) ?? { library: library(), versions: new Map<string, string>() }
    const there = await shelf.indexes(ids)
    if (ids === null) {
      const current = new Set(there.map(({ id }) => id))
      for (const id of mine.versions.keys()) if (!current.has(id)) forget(mine, id)
    }
    for (const { id, version } of there) {
      if (mine.versions.get(id) === version) continue
      forget(mine, id)
      const sealed = await shelf.index(id, signal)
      const rows = sealed && openRows(ragDek, id, await whole(sealed))
      if (rows)
        mine.library.put(
          id,
          rows.map(({ vector, ...passage }) => ({ passage, vector })),
        )
      mine.versions.set(id, version)
    }
    held.delete(key)
    // What nobody asks for by its name any more is only let go of together, since other searches may be at it.
    const stale = mine.versions.size > there.length && mine.library.size > cache
    if (mine.versions.size > 0 && !stale) held.set(key, mine)
    evict()
    return { library: mine.library, ids: there.map(({ id }) => id) }
  }

  const forget = ({ library, versions }: Shelved, id: string) => {
    library.remove(id)
    versions.delete(id)
  }

  /** The ones that were not asked for longest go first. */
  const evict = () => {
    let size = 0
    for (const [key, { library }] of [...held].reverse()) {
      size += library.size
      if (size > cache && held.size > 1) held.delete(key)
    }
  }

  const search: Search = async (shelf, ragDek, query, ids, signal) => {
    const [it, vectors, kin] = await Promise.all([
      opened(shelf, ragDek, ids, signal),
      vectorsOf(soughtIn(query), signal),
      (loaded ??= thesaurus()),
    ])
    return it.library.search({ query, vector: middleOf(vectors), thesaurus: kin, fileIds: it.ids, most: mostHits })
  }

  return { index, search }
}

const whole = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return concat(...all)
}
