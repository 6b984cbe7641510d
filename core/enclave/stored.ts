import type { OpenFile } from '../ports/tool.ts'
import type { Shelf, ShelvedFile } from '../ports/enclave.ts'
import { same, utf8 } from '../wire/bytes.ts'
import { openContent, openLabel, openWhole } from '../wire/file.ts'
import { fromHex } from '../wire/hex.ts'
import { Refusal } from './catalogue.ts'

/** The key in a sealed part: 32 bytes, and behind them perhaps the file that it is for. */
export const keyOf = (part: Uint8Array, field: string, fileId: string | null): Uint8Array => {
  const named = part.subarray(32)
  const meant = named.length === 0 || (fileId !== null && same(named, utf8(fileId)))
  if (part.length < 32 || !meant) throw new Refusal('invalid_parameters', field)
  return part.slice(0, 32)
}

/** The record of the caller's file. */
export const shelved = async (shelf: Shelf, id: string): Promise<ShelvedFile> => {
  const file = await shelf.file(id)
  if (file === null) throw new Refusal('unknown_file', 'fileId')
  return file
}

/** Opens one of the caller's files with its key. A wrong key and damaged bytes are the same. */
export const openStored = async (
  shelf: Shelf,
  id: string,
  { version, name, mime, size }: ShelvedFile,
  dek: Uint8Array,
  most: number,
  signal: AbortSignal,
): Promise<OpenFile> => {
  if (size > most) throw new Refusal('unreadable_file', 'fileId')
  const labels = { name: labelOf(dek, 'name', name), mime: labelOf(dek, 'mime', mime) }
  if (labels.name === null || labels.mime === null) throw new Refusal('unreadable_file', 'fileId')
  // What is asked for has to be read: before this, nothing may still be refused.
  const sealed = await shelf.content(id, signal)
  if (sealed === null) throw new Refusal('unreadable_file', 'fileId')
  const bytes =
    version === '2'
      ? await collected(openContent(dek, sealed), size).catch(unreadable(signal))
      : openWhole(dek, await collected(sealed, size))
  if (bytes === null) throw new Refusal('unreadable_file', 'fileId')
  return { id, name: labels.name, mime: labels.mime, bytes }
}

const unreadable = (signal: AbortSignal) => (): null => {
  signal.throwIfAborted()
  return null
}

const labelOf = (dek: Uint8Array, label: 'name' | 'mime', hex: string): string | null => {
  const sealed = fromHex(hex, 1024)
  try {
    return sealed && openLabel(dek, label, sealed)
  } catch {
    // Sealed rightly, but not as UTF-8.
    return null
  }
}

/** Into one piece of memory that is taken once. */
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
