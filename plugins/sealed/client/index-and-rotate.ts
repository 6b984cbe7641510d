import { hashing } from '#aead'
import { fromHex } from '../wire/bytes.ts'
import { type ClearRequests, type RequestOptions, pathFor } from './http-request.ts'
import { SealgateError } from './error.ts'
import type { FileRecord } from './file-shapes.ts'
import type { FileAccess } from './files.ts'
import type { FileContext, CheckedRecord } from './record-checks.ts'
import { keysOf } from './keys.ts'
import { type MemoryStore, memoryOf } from './memory.ts'
import type { SealParts } from './send-sealed.ts'
import { indexFields } from './upload.ts'
import { openedContent, storedContent } from './content.ts'

/** How the indexing of one file began. */
export interface IndexResult {
  readonly file_id: string
  readonly rag_status: string
  readonly success: boolean
}

export interface RotateOptions {
  /** Reads every file again, so that the client still finds equal files under the new key. */
  readonly rehash?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number, total: number) => void
}

export interface IndexAndRotate {
  /** Asks the enclave to index files. Resolves when the indexing has begun; the records show how it ends. */
  index(ids: readonly string[], signal?: AbortSignal): Promise<readonly IndexResult[]>
  /** Removes indexes; the files stay. */
  forgetIndex(ids: readonly string[]): Promise<readonly IndexResult[]>
  /**
   * Binds unbound files to their current records: files of literal and older clients, and files made by a tool for a
   * caller that left. Returns the number of bound files.
   */
  bind(ids: readonly string[], signal?: AbortSignal): Promise<number>
  /**
   * Wraps the keys of all files with another KEK and returns their number. An interrupted rotation can be repeated. Where
   * records do not hold, the others are wrapped, and the error has their ids in `detail`.
   */
  rotateKek(kek: string, options?: RotateOptions): Promise<number>
}

/** Files of one request. */
const page = 100

/** Null stays null: the owner does not know the hash. */
const hashOf = (hex: string | null): Uint8Array | null => (hex === null ? null : fromHex(hex, 32))

/** `aside` asks the address of tools, which may be another server than that of files. */
export const indexAndRotate = (
  context: FileContext,
  aside: ClearRequests,
  files: FileAccess,
  sealParts: SealParts,
  store: MemoryStore | undefined,
): IndexAndRotate => {
  const vouch = binder(context, files)
  const began = (ids: readonly string[], fresh: boolean, signal?: AbortSignal) =>
    beginIndexing(ids, fresh, { keys: context.keys, aside, files, sealParts }, signal)
  return {
    async index(ids, signal) {
      const { results, enclave_response } = await began(ids, false, signal)
      // The enclave has new keys; the client fetches them once.
      const late = enclave_response.filter(({ code }) => code === 'unknown_key').map(({ file_id }) => file_id)
      if (late.length === 0) return results
      const again = await began(late, true, signal)
      return results.map((result) => again.results.find(({ file_id }) => file_id === result.file_id) ?? result)
    },

    async forgetIndex(ids) {
      const files = ids.map((file_id) => ({ file_id }))
      return (await aside.data<{ results: IndexResult[] }>('POST', 'files/encrypted/delete-index', { json: { files } }))
        .results
    },

    async bind(ids, signal) {
      let count = 0
      for (const id of ids) if (await vouch(id, signal)) count++
      return count
    },

    rotateKek: (kek, options) => rotated(context, files, kek, store, options),
  }
}

interface IndexingParts extends Pick<FileContext, 'keys'> {
  readonly aside: ClearRequests
  readonly files: FileAccess
  readonly sealParts: SealParts
}

/** The gateway's answer; `code` tells why a file did not begin. */
interface Begun {
  readonly results: IndexResult[]
  readonly enclave_response: { file_id: string; code: string }[]
}

/** Seals the keys of each file for the enclave; `fresh` fetches the enclave's keys first. */
const beginIndexing = async (
  ids: readonly string[],
  fresh: boolean,
  { keys, aside, files, sealParts }: IndexingParts,
  signal: AbortSignal | undefined,
): Promise<Begun> => {
  const items = []
  for (const [at, id] of ids.entries()) {
    const { record, dek, proof } = await files.checked(id, signal)
    const stored = proof && { size: record.file_size, hash: proof.hash }
    const isFirst = fresh && at === 0
    const sealed = await indexFields(sealParts, dek, keys.ragDek(), id, stored, signal ?? null, isFirst)
    items.push({ file_id: id, s3_r2_path: record.file_path, ...sealed })
  }
  return aside.data<Begun>('POST', 'files/encrypted/index', { json: { files: items }, ...(signal && { signal }) })
}

/** All files of the caller, read before the first of them changes. A file may stand twice where others store files. */
const everyFile = async (ask: FileContext['ask'], asking: RequestOptions): Promise<readonly FileRecord[]> => {
  const all: FileRecord[] = []
  for (;;) {
    const query = `files/encrypted?limit=${page}&offset=${all.length}`
    const { files, pagination } = await ask.data<{ files: FileRecord[]; pagination: { has_more: boolean } }>(
      'GET',
      query,
      asking,
    )
    all.push(...files)
    if (!pagination.has_more) return all
  }
}

/**
 * The files under one KEK in parts, each file once. Other programs may store files meanwhile, so the list is read again
 * until it shows no new one.
 */
async function* filesUnder(ask: FileContext['ask'], wanted: string, asking: RequestOptions) {
  const seen = new Set<string>()
  for (;;) {
    const fresh = new Map<string, FileRecord>()
    for (const file of await everyFile(ask, asking))
      if (file.kid === wanted && !seen.has(file.id)) fresh.set(file.id, file)
    if (fresh.size === 0) return
    for (const id of fresh.keys()) seen.add(id)
    const left = [...fresh.values()]
    for (let at = 0; at < left.length; at += page) yield { part: left.slice(at, at + page), total: seen.size }
  }
}

/** SHA-256 of the plaintext. The whole file is downloaded for it. */
const digestOf = async (files: FileAccess, id: string, signal: AbortSignal | undefined): Promise<Uint8Array> => {
  const digest = hashing()
  const { content } = await files.download(id, signal ? { signal } : {})
  for await (const part of content) digest.update(part)
  return digest.digest()
}

/** False for a file that is not there, or no more. */
export const isThere = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof SealgateError && error.status === 404) return false
    throw error
  }
}

/** Files that one error names. */
const mostNamed = 20

/** A record that does not hold. The gateway chooses its id, so an error repeats an id of plain characters alone. */
interface Unheld {
  readonly id: string
  readonly error: SealgateError
}

const unheldError = (all: readonly Unheld[]): SealgateError => {
  const [{ error: cause }] = all as readonly [Unheld]
  const ids = all.map(({ id }) => id).filter((id) => /^[\w-]{1,100}$/.test(id))
  return new SealgateError(cause.fault, { detail: ids.slice(0, mostNamed).join(' ') || null, cause })
}

/** Wraps the key of every file again. A record that does not hold is left as it is, and thrown at the end. */
const rotated = async (
  { ask, keys, memory, checks }: FileContext,
  files: FileAccess,
  kek: string,
  store: MemoryStore | undefined,
  { rehash = false, signal, onProgress }: RotateOptions = {},
): Promise<number> => {
  const next = keysOf(kek, undefined)
  const own = keys.kid
  const asking = signal ? { signal } : {}
  const later = memoryOf(store, next)
  await later.inherit(memory)
  let turned: { id: string; revision: number }[] = []
  const unheld: Unheld[] = []
  let [done, count] = [0, 0]
  const turn = async (found: CheckedRecord): Promise<void> => {
    const { record, proof } = found
    const known = rehash && (proof === null ? record.client_hash : proof.clientHash) !== null
    const hash = known ? next.hash(await digestOf(files, record.id, signal)) : null
    const { change, revision } = rewrapped(found, own, next, hash)
    await ask.data('PATCH', pathFor`files/encrypted/${record.id}`, { json: change, ...asking })
    if (proof !== null) turned.push({ id: record.id, revision })
  }
  for await (const { part, total } of own === next.kid ? [] : filesUnder(ask, own, asking)) {
    turned = []
    for (const [at, outcome] of (await checks.checkAll(part)).entries()) {
      signal?.throwIfAborted()
      // A record that does not hold is not bound again, and the other files go on.
      if (outcome instanceof SealgateError) unheld.push({ id: part[at]!.id, error: outcome })
      else if (await isThere(turn(outcome))) count++
      done++
      onProgress?.(done, total)
    }
    await later.meet(turned)
  }
  if (unheld.length > 0) throw unheldError(unheld)
  return count
}

/** The change of a record to the next KEK, with its new binding where it has one. */
const rewrapped = (
  { record, dek, proof }: CheckedRecord,
  old_kid: string,
  next: FileContext['keys'],
  hash: string | null,
) => {
  const wrapped = { id: record.id, version: record.version, file_size: record.file_size, kid: next.kid }
  const wrapped_dek = next.wrap(dek)
  const revision = (proof?.revision ?? 0) + 1
  const binding =
    proof && next.bind({ ...wrapped, wrapped_dek }, { revision, hash: proof.hash, clientHash: hashOf(hash) })
  const change = { old_kid, kid: next.kid, wrapped_dek, client_hash: hash, ...(binding && { binding }) }
  return { change, revision }
}

/** Reads the whole file and then binds it to its current record. False when the file is already bound. */
const binder =
  ({ ask, keys, memory, checks }: FileContext, files: FileAccess) =>
  async (id: string, signal: AbortSignal | undefined): Promise<boolean> => {
    const record = await files.record(id, signal)
    if (record.id !== id) throw new SealgateError('damaged')
    if (record.binding != null) {
      await checks.check(record)
      return false
    }
    const { version, kid, wrapped_dek } = record
    const [stored, plain] = [hashing(), hashing()]
    let size = 0
    async function* told(parts: AsyncIterable<Uint8Array>) {
      for await (const part of parts) {
        stored.update(part)
        size += part.length
        yield part
      }
    }
    const sealed = told(await storedContent(ask, id, signal))
    for await (const part of openedContent(version, keys.unwrap(wrapped_dek, kid), sealed, signal ?? null))
      plain.update(part)
    const hash = keys.hash(plain.digest())
    // A literal client computes its hash in another way.
    const known = record.client_hash === hash
    const revision = (await memory.revisionOf(id)) + 1
    const facts = { id, version, file_size: size, kid, wrapped_dek }
    const clientHash = known ? fromHex(hash, 32) : null
    const binding = keys.bind(facts, { revision, hash: stored.digest(), clientHash })
    const json = { old_kid: kid, kid, wrapped_dek, binding, client_hash: record.client_hash }
    const bound = await ask.data<FileRecord>('PATCH', pathFor`files/encrypted/${id}`, {
      json,
      ...(signal && { signal }),
    })
    if (bound.id !== id || bound.binding !== binding) throw new SealgateError('damaged')
    await checks.check(bound)
    return true
  }
