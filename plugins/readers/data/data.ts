import type { Data } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { runApart } from '../../shared/run-apart.ts'
import type { ContentLimits } from '../shared/content-cutter.ts'
import { defaultLimits } from '../shared/default-limits.ts'

/**
 * The content of a json, jsonl, csv, yaml, xml, toml or parquet file. Numbers that a double or JSON cannot hold are
 * text. Throws Unreadable for another format, and Unconfigured when a compression needs another package.
 */
export const readData = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  most: ContentLimits = defaultLimits,
): Promise<Data> => runApart<Data>('readers/data/data-job', { name, mime, bytes, most }, signal)
