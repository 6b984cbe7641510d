import { Unreadable } from '../../../core/errors.ts'

/** The streams of a compound file, the container of .doc, .ppt and .msg. */
export interface Compound {
  /** Paths of streams, such as `__attach_version1.0_#00000000/__substg1.0_3707001F`. */
  readonly paths: readonly string[]
  /** Null when the file has no such stream. Throws Unreadable when its sectors do not lead to an end. */
  stream(path: string): Buffer | null
}

/** An entry of the directory: a stream or a folder. `left`, `right` and `child` are numbers of other entries. */
interface Entry {
  readonly name: string
  readonly isStream: boolean
  readonly left: number
  readonly right: number
  readonly child: number
  readonly start: number
  readonly size: number
}

/** Numbers from here on end a chain or mark a free sector. */
const noSector = 0xfffffff0
const none = 0xffffffff

/** An entry of a directory, in bytes. */
const entryBytes = 128

/** Throws Unreadable when the bytes are no compound file. Copies no more than four times the file. */
export const openCompound = (bytes: Uint8Array): Compound => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length < 512 || file.readUInt32LE(0) !== 0xe011cfd0) throw new Unreadable()
  const sector = 1 << file.readUInt16LE(30)
  if (sector !== 512 && sector !== 4096) throw new Unreadable()
  let left = 4 * file.length
  /** The last sector of a file may be cut short. */
  const sectorAt = (at: number): Buffer => {
    const part = file.subarray(sector * (at + 1), sector * (at + 2))
    if (part.length === 0 || (left -= part.length) < 0) throw new Unreadable()
    return part
  }
  const table = tableOf(file, sectorAt)
  const chain = (start: number): Buffer => {
    const parts: Buffer[] = []
    for (let at = start; at < noSector; at = table[at] ?? none) parts.push(sectorAt(at))
    return Buffer.concat(parts)
  }
  const entries = entriesOf(chain(file.readUInt32LE(48)))
  const [root] = entries
  if (!root) throw new Unreadable()
  const small = root.start < noSector ? chain(root.start) : Buffer.alloc(0)
  const smallTable = numbersOf([chain(file.readUInt32LE(60))])
  const smallest = file.readUInt32LE(56)
  const streams = new Map(streamsOf(entries))
  return {
    paths: [...streams.keys()],
    stream(path) {
      const entry = streams.get(path)
      if (!entry) return null
      if (entry.size >= smallest) return chain(entry.start).subarray(0, entry.size)
      const parts: Buffer[] = []
      for (let at = entry.start; at < noSector && parts.length * 64 < entry.size; at = smallTable[at] ?? none) {
        // A chain of more sectors than there are leads back into itself.
        if (parts.length * 64 > small.length) throw new Unreadable()
        parts.push(small.subarray(at * 64, at * 64 + 64))
      }
      return Buffer.concat(parts).subarray(0, entry.size)
    },
  }
}

/** The next sector of each sector. The header names the sectors of the table, and further sectors name more of them. */
const tableOf = (file: Buffer, sectorAt: (at: number) => Buffer): readonly number[] => {
  const named = numbersOf([file.subarray(76, 512)])
  for (let at = file.readUInt32LE(68); at < noSector; at = named.pop() ?? none) named.push(...numbersOf([sectorAt(at)]))
  return numbersOf(named.filter((at) => at < noSector).map(sectorAt))
}

/** Numbers of 32 bits, little-endian. */
const numbersOf = (parts: readonly Buffer[]): number[] => {
  const numbers: number[] = []
  for (const part of parts) for (let at = 0; at + 4 <= part.length; at += 4) numbers.push(part.readUInt32LE(at))
  return numbers
}

const entriesOf = (directory: Buffer): readonly Entry[] => {
  const entries: Entry[] = []
  for (let at = 0; at + entryBytes <= directory.length; at += entryBytes) {
    const kind = directory[at + 66]
    const length = Math.min(64, directory.readUInt16LE(at + 64))
    entries.push({
      name: directory.toString('utf16le', at, at + Math.max(0, length - 2)),
      isStream: kind === 2,
      left: directory.readUInt32LE(at + 68),
      right: directory.readUInt32LE(at + 72),
      child: kind === 1 || kind === 5 ? directory.readUInt32LE(at + 76) : none,
      start: directory.readUInt32LE(at + 116),
      size: directory.readUInt32LE(at + 120),
    })
  }
  return entries
}

/** Walks the tree of the directory. Each entry counts once, whatever the file claims. */
function* streamsOf(entries: readonly Entry[]): Generator<[string, Entry]> {
  const seen = new Set<number>()
  const open: [number, string][] = [[entries[0]!.child, '']]
  for (let next = open.pop(); next; next = open.pop()) {
    const [at, folder] = next
    const entry = entries[at]
    if (!entry || seen.has(at)) continue
    seen.add(at)
    const path = folder + entry.name
    if (entry.isStream) yield [path, entry]
    open.push([entry.right, folder], [entry.left, folder], [entry.child, `${path}/`])
  }
}
