import { constants, crc32, deflateRawSync } from 'node:zlib'

export interface Packed {
  readonly name: string
  readonly content: string | Uint8Array
  /** How many times it follows itself. */
  readonly times?: number
  /** What the archive says of it, right or wrong. */
  readonly says?: number
  /** Shares the bytes of the file before it. */
  readonly again?: boolean
}

/** An archive, sound or not. */
export const zipOf = (files: readonly Packed[]): Uint8Array => {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  let last = { offset: 0, packed: Buffer.alloc(0) as Buffer, size: 0, crc: 0 }
  let before: Pick<Packed, 'content' | 'times'> | null = null
  for (const { name, content, times = 1, says, again } of files) {
    const label = Buffer.from(name)
    if (!again) {
      const bytes = Buffer.from(content as Uint8Array)
      // The same content behind itself is packed once.
      last =
        before?.content === content && before.times === times
          ? { ...last, offset: at }
          : { offset: at, packed: packed(bytes, times), size: bytes.length * times, crc: crc32(bytes) }
      before = { content, times }
      const local = Buffer.concat([
        header(0x04034b50, [20, 0x800, 8, 0, 0], last, says),
        lengths(label.length, 0),
        label,
      ])
      pieces.push(local, last.packed)
      at += local.length + last.packed.length
    }
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(last.offset, 10)
    directory.push(header(0x02014b50, [20, 20, 0x800, 8, 0, 0], last, says), lengths(label.length, 0), tail, label)
  }
  const end = Buffer.alloc(22)
  const size = directory.reduce((sum, piece) => sum + piece.length, 0)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...pieces, ...directory, end])
}

/** Pieces that end with a flush can follow each other; two bytes end them. */
const packed = (bytes: Buffer, times: number): Buffer => {
  if (times === 1) return deflateRawSync(bytes)
  const piece = deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH })
  return Buffer.concat([...Array.from({ length: times }, () => piece), Buffer.of(3, 0)])
}

const header = (
  sign: number,
  words: readonly number[],
  { packed, size, crc }: { readonly packed: Buffer; readonly size: number; readonly crc: number },
  says = size,
): Buffer => {
  const bytes = Buffer.alloc(4 + words.length * 2 + 12)
  bytes.writeUInt32LE(sign, 0)
  words.forEach((word, index) => bytes.writeUInt16LE(word, 4 + index * 2))
  ;[crc, packed.length, says].forEach((number, index) => bytes.writeUInt32LE(number, 4 + words.length * 2 + index * 4))
  return bytes
}

const lengths = (name: number, extra: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16LE(name, 0)
  bytes.writeUInt16LE(extra, 2)
  return bytes
}
