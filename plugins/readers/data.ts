import { plugin } from '../../core/plugin.ts'
import type { Data } from '../../core/ports/file-content.ts'
import { Reader, type FileToRead } from '../../core/ports/reader.ts'
import { runApart } from '../shared/run-apart.ts'
import type { ContentLimits } from './shared/content-cutter.ts'
import { kindOf } from './shared/file-kind.ts'
import { defaultLimits } from './shared/default-limits.ts'

/** Data: json, jsonl, csv, tsv, yaml, xml, toml and parquet. Search uses this reader only for parquet. */
export default plugin({
  port: Reader,
  name: 'data',
  create: (): Reader<'data'> => ({
    name: 'data',
    kind: 'data',
    // For search, other readers read the remaining formats as tables or plain text.
    fits: (file) => kindOf(file) === 'data',
    async read(file, signal, limits) {
      signal.throwIfAborted()
      const content = await readData(file, signal, { ...defaultLimits, ...limits })
      return { content, sections: [{ text: textOf(content), heading: null, page: null }] }
    },
  }),
})

/** The text in which a search looks. */
const textOf = (data: Data): string => {
  if (data.kind === 'tree') return line(data.value)
  if (data.kind === 'records') return data.records.map(line).join('\n')
  return [data.columns.map(({ name }) => name), ...data.rows].map((row) => row.map(line).join(' | ')).join('\n')
}

const line = (value: unknown): string =>
  value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/**
 * The content of a json, jsonl, csv, yaml, xml, toml or parquet file. Numbers that a double or JSON cannot hold are
 * text. Throws Unreadable for another format, and Unconfigured when a compression needs another package.
 */
export const readData = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  most: ContentLimits = defaultLimits,
): Promise<Data> => runApart<Data>('readers/data/data-job', { name, mime, bytes, most }, signal)
