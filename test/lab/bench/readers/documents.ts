import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Packaged, unpacked } from '../unpacked.ts'
import { sources } from './sources.ts'

export const formats = [
  ...['docx', 'odt', 'rtf', 'pdf', 'pptx', 'odp', 'xlsx', 'ods', 'html', 'epub'],
  ...['doc', 'ppt', 'xls', 'msg', 'eml'],
] as const
export type Format = (typeof formats)[number]

export interface Sampled {
  readonly path: string
  readonly name: string
  readonly bytes: Buffer
  /** SHA-256, in hex. */
  readonly hash: string
}

export const folder = join(tmpdir(), 'sealgate-bench-readers')

/** In bytes: larger files test patience. */
const largest = 2_000_000

/** Files of a format, equal ones once; the hashes of their contents decide which of them are sampled. */
export const documentsOf = async (format: Format, most: number): Promise<readonly Sampled[]> => {
  const found = new Map<string, Sampled>()
  for (const source of sources) {
    const place = folderOf(source)
    if (place === null) continue
    for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(place, name)
      if (!name.toLowerCase().endsWith(`.${format}`) || !isDocument(path)) continue
      const bytes = readFileSync(path)
      const hash = createHash('sha256').update(bytes).digest('hex')
      // Fragments of other formats may have the name of this one.
      if (format === 'rtf' && !bytes.toString('latin1', 0, 100).includes('{\\rtf')) continue
      if (!found.has(hash)) found.set(hash, { path, name, bytes, hash })
    }
  }
  return [...found.values()].sort((one, other) => (one.hash < other.hash ? -1 : 1)).slice(0, most)
}

const missing = new Set<string>()

/** Null where a package can't be had any more, which is said once. */
const folderOf = (source: Packaged): string | null => {
  if (missing.has(source.name)) return null
  try {
    return unpacked(source)
  } catch {
    missing.add(source.name)
    console.log(`${source.name} cannot be had: its files are left out`)
    return null
  }
}

const isDocument = (path: string): boolean => {
  const about = statSync(path, { throwIfNoEntry: false })
  return about !== undefined && about.isFile() && about.size > 0 && about.size <= largest
}
