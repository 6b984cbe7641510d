import { createHash } from 'node:crypto'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import type { OpenFile } from '../../../core/ports/tool.ts'
import type { EnclaveFiles, EnclaveFile } from '../../../core/ports/enclave.ts'
import { type NamedKey, type Stored, readNamedKey } from '../wire/binding.ts'
import { same, utf8, fromHex } from '../wire/bytes.ts'
import { openBareLabel, openContent, openLabel, openWhole } from '../wire/file.ts'
import { Refusal } from './refusals.ts'

/** The key of a sealed part: 32 bytes. The part may name the file of the key and its stored content. */
export const keyOf = (part: Uint8Array | undefined, field: string, fileId: string | null): NamedKey => {
  const named = part === undefined ? null : readNamedKey(part)
  const meant = named !== null && (named.name.length === 0 || (fileId !== null && same(named.name, utf8(fileId))))
  if (!meant) throw new Refusal('invalid_parameters', field)
  return named
}

/** Resolves when memory for this many bytes is free. The result releases the memory. */
export type ReserveMemory = (size: number, signal: AbortSignal) => Promise<() => void>

/** The record of the caller's file. */
export const recordOf = async (enclaveFiles: EnclaveFiles, id: string): Promise<EnclaveFile> => {
  const file = await enclaveFiles.file(id)
  if (file === null) throw new Refusal('unknown_file', 'fileId')
  return file
}

interface Opening {
  readonly enclaveFiles: EnclaveFiles
  readonly makeRoom: ReserveMemory
  readonly id: string
  readonly record: EnclaveFile
  readonly dek: NamedKey
  /** In bytes: the largest sealed content that may be opened. */
  readonly most: number
}

/** Opens one of the caller's files during the work. The content is fetched when memory is free. */
export const withStoredFile = async <T>(
  { enclaveFiles, makeRoom, id, record, dek, most }: Opening,
  signal: AbortSignal,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> => {
  const { stored } = dek
  if (record.size > most || (stored !== null && stored.size !== record.size))
    throw new Refusal('unreadable_file', 'fileId')
  const leave = await makeRoom(record.size, signal)
  try {
    return await work(await openStored(enclaveFiles, id, record, dek, signal))
  } finally {
    leave()
  }
}

/** Opens one of the caller's files with its key. A wrong key, damaged bytes and unvouched bytes give the same error. */
const openStored = async (
  enclaveFiles: EnclaveFiles,
  id: string,
  { version, name, mime, size }: EnclaveFile,
  { key: dek, stored }: NamedKey,
  signal: AbortSignal,
): Promise<OpenFile> => {
  const labels = { name: labelOf(dek, 'name', name), mime: labelOf(dek, 'mime', mime) }
  const found = await enclaveFiles.content(id, signal)
  if (found === null) throw new Refusal('unreadable_file', 'fileId')
  const sealed = inTurns(stored === null ? found : vouched(found, stored))
  const bytes =
    version === '2'
      ? await collected(openContent(dek, sealed), size).catch(unreadable(signal))
      : openWhole(dek, await collected(sealed, size))
  if (bytes === null) throw new Refusal('unreadable_file', 'fileId')
  return { id, name: labels.name, mime: labels.mime, bytes }
}

/** Each part is hashed and opened in a turn of the loop of its own, however many calls read files. */
async function* inTurns(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    yield part
    await freeTurn()
  }
}

/** Yields the bytes, and throws unless the caller vouches for exactly these bytes. */
async function* vouched(parts: AsyncIterable<Uint8Array>, stored: Stored): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const part of parts) {
    hash.update(part)
    yield part
  }
  if (!same(hash.digest(), stored.hash)) throw new Refusal('unreadable_file', 'fileId')
}

/** An abort stays an abort; every other fault gives null. */
const unreadable = (signal: AbortSignal) => (): null => {
  signal.throwIfAborted()
  return null
}

/** A label of our clients or of a literal client. Empty when it opens as neither; readers then examine the content. */
const labelOf = (dek: Uint8Array, label: 'name' | 'mime', hex: string): string => {
  const sealed = fromHex(hex, 1024)
  if (sealed === null) return ''
  return unlessGarbled(() => openLabel(dek, label, sealed)) ?? unlessGarbled(() => openBareLabel(dek, sealed)) ?? ''
}

/** Null when the opened label is not UTF-8. */
const unlessGarbled = (open: () => string | null): string | null => {
  try {
    return open()
  } catch {
    return null
  }
}

/** Joins all parts into one array that is allocated once. */
const collected = async (parts: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> => {
  const whole = new Uint8Array(most)
  let size = 0
  for await (const part of parts) {
    if (size + part.length > most) throw new Refusal('unreadable_file', 'fileId')
    whole.set(part, size)
    size += part.length
  }
  return whole.subarray(0, size)
}
