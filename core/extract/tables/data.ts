import { apart } from '../apart.ts'
import type { Most, Value } from './data-cut.ts'

export type DataFormat = 'json' | 'jsonl' | 'csv' | 'tsv' | 'yaml' | 'xml' | 'toml' | 'parquet'

export interface Column {
  readonly name: string
  /** What its values are or look like. */
  readonly type: string
  readonly nulls: number
  readonly min?: number | string
  readonly max?: number | string
}

/** A list of records whose values are plain: what there is by column, and the first rows. */
export interface Table {
  readonly format: DataFormat
  readonly kind: 'table'
  readonly rowCount: number
  /** How many rows the columns were described from. */
  readonly describedRows: number
  readonly columns: readonly Column[]
  readonly truncated: boolean
  readonly rows: readonly (readonly Value[])[]
}

/** A list of records that hold more than plain values, or not the same ones. */
export interface Records {
  readonly format: DataFormat
  readonly kind: 'records'
  readonly recordCount: number
  /** Lines that were left out since they could not be read. */
  readonly brokenLines: number
  readonly outline: string
  readonly columns: readonly Column[]
  readonly truncated: boolean
  readonly records: readonly Value[]
}

export interface Tree {
  readonly format: DataFormat
  readonly kind: 'tree'
  /** What the value is made of, level by level, from samples where it is long. */
  readonly outline: string
  readonly truncated: boolean
  readonly value: Value
}

export type Data = Table | Records | Tree

export interface DataFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/**
 * What stands in a json, jsonl, csv, yaml, xml, toml or parquet file. Integers that a double can't hold, and what JSON has no
 * numbers for, are text. Throws Unreadable for what is none, and Unconfigured where a compression needs another package.
 */
export const readData = (
  { name, mime, bytes }: DataFile,
  signal: AbortSignal,
  most: Most = { values: 200_000, characters: 2_000_000 },
): Promise<Data> => apart<Data>('data', { name, mime, bytes, most }, signal)
