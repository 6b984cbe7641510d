import { crc32, deflateRawSync } from 'node:zlib'

/** The first day that an archive can tell: what is made of the same content is the same to the byte. */
const day = 0x21

/** A zip of these files, by their names, in their order. */
export const archiveOf = (files: Readonly<Record<string, string>>): Uint8Array => {
  const pieces: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content, 'utf8')
    const label = Buffer.from(name, 'utf8')
    const packed = deflateRawSync(bytes)
    const facts = factsOf(bytes, packed, label)
    pieces.push(record(0x04034b50, facts), label, packed)
    // No comment, one disk, no attributes; where the file begins.
    directory.push(record(0x02014b50, [[20, 2], ...facts, [0, 6], [0, 4], [offset, 4]]), label)
    offset += 30 + label.length + packed.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const count = Object.keys(files).length
  const end = record(0x06054b50, [[0, 4], [count, 2], [count, 2], [size, 4], [offset, 4], [0, 2]]) // prettier-ignore
  return Buffer.concat([...pieces, ...directory, end])
}

/** Numbers with the bytes that each takes. */
type SizedNumbers = readonly (readonly [value: number, bytes: number])[]

/** The fields that a file's own record shares with its record in the directory. */
const factsOf = (bytes: Uint8Array, packed: Uint8Array, label: Uint8Array): SizedNumbers => [
  // The version that unpacks it, names in UTF-8, deflated, no time.
  ...([[20, 2], [0x800, 2], [8, 2], [0, 2], [day, 2]] as const), // prettier-ignore
  ...([[crc32(bytes), 4], [packed.length, 4], [bytes.length, 4], [label.length, 2], [0, 2]] as const), // prettier-ignore
]

/** Numbers in little-endian order behind the record's sign, as the zip format (APPNOTE) has them. */
const record = (sign: number, fields: SizedNumbers): Uint8Array => {
  const all: SizedNumbers = [[sign, 4], ...fields]
  const bytes = Buffer.alloc(all.reduce((sum, [, length]) => sum + length, 0))
  let at = 0
  for (const [value, length] of all) at = bytes.writeUIntLE(value, at, length)
  return bytes
}
