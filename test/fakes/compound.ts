const sector = 512
const end = 0xfffffffe
const free = 0xffffffff

/** A compound file with these streams, sound or not: a path may lie in folders, and `next` overrules the table of sectors. */
export const compoundOf = (
  streams: Readonly<Record<string, Uint8Array>>,
  next: Readonly<Record<number, number>> = {},
): Uint8Array => {
  const entries = entriesOf(streams)
  const parts: Buffer[] = []
  const table: number[] = []
  const put = (bytes: Uint8Array): number => {
    const count = Math.max(1, Math.ceil(bytes.length / sector))
    const start = table.length
    for (let at = 0; at < count; at++) table.push(at === count - 1 ? end : start + at + 1)
    parts.push(Buffer.concat([bytes], count * sector))
    return start
  }
  const starts = entries.map(({ content }) => (content ? put(content) : end))
  const directory = put(Buffer.concat(entries.map((entry, at) => entryOf(entry, starts[at]!))))
  const tables = Math.ceil((table.length + 8) / 127)
  const first = table.length
  for (let at = 0; at < tables; at++) table.push(0xfffffffd)
  for (const [at, to] of Object.entries(next)) table[Number(at)] = to
  const words = [...table, ...Array<number>(tables * 128 - table.length).fill(free)]
  return Buffer.concat([headerOf(directory, first, tables), ...parts, numbers(words)])
}

interface Entry {
  readonly name: string
  readonly kind: number
  readonly content?: Uint8Array
  right: number
  child: number
}

/** Folders hold their entries as a chain to the right, which is a tree too. */
const entriesOf = (streams: Readonly<Record<string, Uint8Array>>): readonly Entry[] => {
  const entries: Entry[] = [{ name: 'Root Entry', kind: 5, right: free, child: free }]
  const folders = new Map([['', 0]])
  const add = (folder: number, entry: Omit<Entry, 'right' | 'child'>): number => {
    const at = entries.push({ ...entry, right: entries[folder]!.child, child: free }) - 1
    entries[folder]!.child = at
    return at
  }
  for (const [path, content] of Object.entries(streams)) {
    const [, folder = '', name = ''] = /^(?:(.*)\/)?([^/]+)$/.exec(path) ?? []
    if (!folders.has(folder)) folders.set(folder, add(0, { name: folder, kind: 1 }))
    add(folders.get(folder)!, { name, kind: 2, content })
  }
  return entries
}

const entryOf = ({ name, kind, content, right, child }: Entry, start: number): Buffer => {
  const entry = Buffer.alloc(128)
  entry.write(name, 'utf16le')
  entry.writeUInt16LE(2 * name.length + 2, 64)
  entry[66] = kind
  for (const [at, value] of [free, right, child].entries()) entry.writeUInt32LE(value, 68 + 4 * at)
  entry.writeUInt32LE(start, 116)
  entry.writeUInt32LE(content?.length ?? 0, 120)
  return entry
}

const headerOf = (directory: number, table: number, tables: number): Buffer => {
  const header = Buffer.alloc(sector)
  header.write('d0cf11e0a1b11ae1', 'hex')
  header.writeUInt16LE(9, 30)
  header.writeUInt16LE(6, 32)
  header.writeUInt32LE(tables, 44)
  header.writeUInt32LE(directory, 48)
  // No stream is small enough for sectors of 64 bytes.
  header.writeUInt32LE(0, 56)
  for (const at of [60, 68]) header.writeUInt32LE(end, at)
  numbers(Array.from({ length: 109 }, (_, at) => (at < tables ? table + at : free))).copy(header, 76)
  return header
}

const numbers = (words: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * words.length)
  for (const [at, word] of words.entries()) bytes.writeUInt32LE(word >>> 0, 4 * at)
  return bytes
}
