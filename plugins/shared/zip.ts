import type { Entry, ZipFile } from 'yauzl'
import { GatewayError, Unreadable } from '../../core/errors.ts'
import { optionalPackage } from './optional-package.ts'

/** Absent limits are 10,000 entries and 100 MB. */
export interface ZipLimits {
  readonly entries?: number
  /** In bytes: the unpacked size of all wanted files together. */
  readonly bytes?: number
}

/** The wanted files of an archive, by name. Throws Unreadable when the archive is damaged or exceeds the limits. */
export const unzip = (
  bytes: Uint8Array,
  want: (name: string) => boolean,
  most: ZipLimits = {},
): Promise<ReadonlyMap<string, Uint8Array>> =>
  sound(bytes, want, most, async (archive, entries) => {
    const files = new Map<string, Uint8Array>()
    for (const entry of entries) {
      const file = new Uint8Array(entry.uncompressedSize)
      let at = 0
      for await (const piece of inflated(archive, entry)) {
        file.set(piece, at)
        at += piece.length
      }
      files.set(entry.fileName, file)
    }
    return files
  })

/** True when the bytes begin with the header of a file in an archive. An empty archive has no such header. */
export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4

/** Opens an archive and checks its directory before anything is unpacked. */
const sound = async <T>(
  bytes: Uint8Array,
  want: (name: string) => boolean,
  { entries: count = 10_000, bytes: size = 100_000_000 }: ZipLimits,
  use: (archive: ZipFile, entries: readonly Entry[]) => Promise<T>,
): Promise<T> => {
  const { fromBufferPromise } = await optionalPackage('yauzl', () => import('yauzl'))
  try {
    const archive = await fromBufferPromise(withoutTail(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
    if (archive.entryCount > count) throw new Unreadable()
    const all: Entry[] = []
    for await (const entry of archive.eachEntry()) all.push(entry)
    if (overlap(all)) throw new Unreadable()
    const wanted = all.filter(({ fileName }) => !fileName.endsWith('/') && want(fileName))
    if (wanted.reduce((sum, entry) => sum + entry.uncompressedSize, 0) > size) throw new Unreadable()
    return await use(archive, wanted)
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : new Unreadable({ cause })
  }
}

const endOfArchive = Buffer.of(0x50, 0x4b, 5, 6)
/** In bytes: the length of an archive's end record without its comment. */
const endLength = 22
/** In bytes from the end of the file: the searched range for the end record. */
const longestTail = 262_144

/** Removes bytes after the end of an archive, which mail programs and downloads add; the library refuses them. */
const withoutTail = (file: Buffer): Buffer => {
  const earliest = Math.max(0, file.length - longestTail)
  let at = file.lastIndexOf(endOfArchive)
  for (; at >= earliest; at = at === 0 ? -1 : file.lastIndexOf(endOfArchive, at - 1)) {
    if (at + endLength > file.length) continue
    const end = at + endLength + file.readUInt16LE(at + 20)
    // A comment may contain the same four bytes. The true end record follows the directory.
    const directory = file.readUInt32LE(at + 12) + file.readUInt32LE(at + 16)
    if (directory === at && end <= file.length) return file.subarray(0, end)
  }
  return file
}

/** True when entries share bytes: a small archive can unpack endlessly that way. */
const overlap = (entries: readonly Entry[]): boolean => {
  const places = entries
    .map(({ relativeOffsetOfLocalHeader: start, fileNameLength, compressedSize }) => ({
      start,
      end: start + 30 + fileNameLength + compressedSize,
    }))
    .sort((one, other) => one.start - other.start)
  return places.some(({ start }, at) => at > 0 && (places[at - 1]?.end ?? 0) > start)
}

/** Throws when the size of an entry differs from the archive's declaration. */
const inflated = async function* (archive: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let rest = entry.uncompressedSize
  for await (const piece of await archive.openReadStreamPromise(entry)) {
    rest -= piece.length
    if (rest < 0) throw new Unreadable()
    yield piece
  }
  if (rest > 0) throw new Unreadable()
}
