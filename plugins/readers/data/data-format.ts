import { Unreadable } from '../../../core/errors.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'

export type DataFormat = 'json' | 'jsonl' | 'csv' | 'tsv' | 'yaml' | 'xml' | 'toml' | 'parquet'

/**
 * The format of a file, by its first bytes, then its name, its type and the beginning of its text. Null for a text
 * without name and type: only a try can tell its format. Throws Unreadable otherwise.
 */
export const formatOf = ({ name, mime, bytes }: FileToRead): DataFormat | null => {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1')
  if (start.startsWith('PAR1')) return 'parquet'
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const type = mime.toLowerCase().split(';')[0]!.trim()
  const subtype = /^(?:application|text)\/(?:x-)?(.+)$/.exec(type)?.[1] ?? ''
  const found = endings.get(ending) ?? endings.get(subtype) ?? /\+(json|xml|yaml)$/.exec(type)?.[1] ?? byStart(start)
  if (!found && ending === '' && /^(application\/octet-stream)?$/.test(type)) return null
  if (!found) throw new Unreadable()
  return found as DataFormat
}

/** Formats by the ends of names and of types. */
const endings: ReadonlyMap<string, DataFormat> = new Map([
  ...(['json', 'jsonl', 'csv', 'tsv', 'yaml', 'xml', 'toml', 'parquet'] as const).map(
    (format) => [format, format] as const,
  ),
  ['ndjson', 'jsonl'],
  ['geojson', 'json'],
  ['ipynb', 'json'],
  ['har', 'json'],
  ['yml', 'yaml'],
  ['tab', 'tsv'],
  ['rss', 'xml'],
  ['kml', 'xml'],
  ['gpx', 'xml'],
  ['tab-separated-values', 'tsv'],
  ['vnd.apache.parquet', 'parquet'],
])

/** Only JSON and XML show their format in the first character. The mark of UTF-8 appears here as Latin-1. */
const byStart = (start: string): DataFormat | null => {
  if (/^(ï»¿)?\s*[[{]/.test(start)) return 'json'
  return /^(ï»¿)?\s*<[?!a-z]/i.test(start) ? 'xml' : null
}
