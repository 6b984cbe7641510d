import { type Pace, freePace } from '../../../core/dialects/loop-time.ts'
import type { Work } from '../../shared/work-in-turns.ts'
import { concat, number, numberOf, padded, textOf, utf8 } from '../wire/bytes.ts'
import { ragRowKey } from '../wire/schedule.ts'
import { freshNonce, openWith, sealWith } from '../wire/seal.ts'

/** One stored passage: its text, its place, and its vector in bytes. All of it is sealed. */
export interface RagRow {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
  /** Null when no model made a vector. */
  readonly vector: Float32Array | null
  /** The model that made the vector, null without a model; absent in rows of version 1.0.0. */
  readonly model?: string | null
  /** The words of the file's name; absent in rows of version 1.0.0. */
  readonly title?: string | null
}

/** Nanoseconds for a row and for each of its bytes, sealed or opened. */
const [rowNs, byteNs] = [20_000, 40]

/** In bytes: rows are padded to a multiple of this, so that their lengths tell little of the text. */
const bucket = 512

/**
 * A stored index: the number of rows, then each row after its length. A row opens only at its own place in its own
 * file.
 */
export async function* sealRows(
  ragDek: Uint8Array,
  fileId: string,
  rows: readonly RagRow[],
  pace: Pace = freePace(),
): AsyncGenerator<Uint8Array> {
  const key = ragRowKey(ragDek)
  yield number(rows.length, 4)
  for (const [at, row] of rows.entries()) {
    const sealed = sealWith(key, freshNonce(), padded(packed(row), bucket), place(fileId, at, rows.length))
    const turn = pace.spend(rowNs + sealed.length * byteNs)
    if (turn !== null) await turn
    yield concat(number(sealed.length, 4), sealed)
  }
}

/** Null when a row does not open, is missing or is surplus. */
export function* openRows(ragDek: Uint8Array, fileId: string, index: Uint8Array): Work<readonly RagRow[] | null> {
  const key = ragRowKey(ragDek)
  let at = 0
  const take = (length: number): Uint8Array | null => {
    if (at + length > index.length) return null
    return index.subarray(at, (at += length))
  }
  const count = take(4)
  if (count === null) return null
  const total = Number(numberOf(count))
  const rows: RagRow[] = []
  while (rows.length < total) {
    const length = take(4)
    const sealed = length && take(Number(numberOf(length)))
    const plain = sealed && openWith(key, sealed, place(fileId, rows.length, total))
    if (!plain) return null
    rows.push(unpacked(plain))
    yield rowNs + plain.length * byteNs
  }
  return at === index.length ? rows : null
}

/** The authenticated place of a row: a row of another file, or at another place, does not open. */
const place = (fileId: string, row: number, rows: number): Uint8Array =>
  concat(utf8(fileId), number(row, 4), number(rows, 4))

/** Lengths and scale in 12 bytes, then a byte for each dimension, then JSON. Bytes keep a vector small. */
const packed = ({ text, heading, page, vector, model, title }: RagRow): Uint8Array => {
  const json = utf8(JSON.stringify({ text, heading, page, model, title }))
  const size = vector?.length ?? 0
  const whole = new Uint8Array(12 + size + json.length)
  const view = new DataView(whole.buffer)
  view.setUint32(0, json.length)
  view.setUint32(4, size)
  const scale = vector === null ? 0 : vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127
  view.setFloat32(8, scale)
  for (let at = 0; at < size; at++) view.setInt8(12 + at, scale === 0 ? 0 : Math.round((vector?.[at] ?? 0) / scale))
  whole.set(json, 12 + size)
  return whole
}

const unpacked = (plain: Uint8Array): RagRow => {
  const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength)
  const [length, size, scale] = [view.getUint32(0), view.getUint32(4), view.getFloat32(8)]
  const row = JSON.parse(textOf(plain.subarray(12 + size, 12 + size + length))) as Omit<RagRow, 'vector'>
  const vector = size === 0 ? null : Float32Array.from({ length: size }, (_, at) => view.getInt8(12 + at) * scale)
  return { ...row, vector }
}
