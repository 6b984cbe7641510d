import type { Data } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { apart } from '../../shared/run-apart.ts'
import type { Most } from '../shared/data-cut.ts'
import { mostRead } from '../shared/most-read.ts'

/**
 * What stands in a json, jsonl, csv, yaml, xml, toml or parquet file. Integers that a double can't hold, and what JSON has no
 * numbers for, are text. Throws Unreadable for what is none, and Unconfigured where a compression needs another package.
 */
export const readData = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  most: Most = mostRead,
): Promise<Data> => apart<Data>('readers/data/data-job', { name, mime, bytes, most }, signal)
