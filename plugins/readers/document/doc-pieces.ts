import { Unreadable } from '../../../core/errors.ts'
import { decoded } from '../../shared/charset.ts'

/** A run of characters that stand together in the file. */
export type Piece = Readonly<ReturnType<typeof single>>

/** True before Word 97, the first version whose characters stand in pieces of either width. */
export const isOld = (main: Buffer): boolean => main.readUInt16LE(2) < 0xc1

/** The text of a document in its order. Older versions keep one run of Windows-1252, unless they were saved in pieces. */
export const piecesOf = (main: Buffer, table: Buffer | null): readonly Piece[] => {
  const old = isOld(main)
  const clx = old ? main : table
  const [at, length] = old
    ? [main.readUInt32LE(0x160), main.readUInt32LE(0x164)]
    : [main.readUInt32LE(0x1a2), main.readUInt32LE(0x1a6)]
  const isComplex = (main.readUInt16LE(0x0a) & 4) !== 0
  if (old && !isComplex) return [single(main, 0, main.readUInt32LE(0x18), main.readUInt32LE(0x1c))]
  if (clx === null || at + length > clx.length) throw new Unreadable()
  return listed(main, pieceTable(clx.subarray(at, at + length)), old)
}

/** Before the table of pieces stand changes of formats, each with its length. */
const pieceTable = (clx: Buffer): Buffer => {
  for (let at = 0; at + 5 <= clx.length; at += 3 + clx.readUInt16LE(at + 1)) {
    if (clx[at] === 2) return clx.subarray(at + 5, at + 5 + clx.readUInt32LE(at + 1))
    if (clx[at] !== 1) break
  }
  throw new Unreadable()
}

/** Throws Unreadable when pieces overlap so that they would give more text than the file has. */
const listed = (main: Buffer, table: Buffer, old: boolean): readonly Piece[] => {
  const count = Math.floor((table.length - 4) / 12)
  const pieces: Piece[] = []
  let left = main.length
  for (let at = 0; at < count; at++) {
    const start = table.readUInt32LE(4 * at)
    const length = table.readUInt32LE(4 * at + 4) - start
    const raw = table.readUInt32LE(4 * (count + 1) + 8 * at + 2)
    const isNarrow = old || (raw & 0x40000000) !== 0
    const place = old ? raw : isNarrow ? (raw & 0x3fffffff) >>> 1 : raw
    const width = isNarrow ? 1 : 2
    left -= length * width
    if (length < 0 || left < 0 || place + length * width > main.length) throw new Unreadable()
    if (isNarrow) pieces.push(single(main, start, place, place + length))
    else pieces.push({ start, text: main.toString('utf16le', place, place + 2 * length), place, width })
  }
  return pieces
}

const single = (main: Buffer, start: number, from: number, to: number) => ({
  /** The number of characters before it. */
  start,
  text: decoded(main.subarray(from, to), 'windows-1252'),
  /** The place of its first byte in the stream, and the bytes of a character. */
  place: from,
  width: 1,
})
