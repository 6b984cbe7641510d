import * as zlib from 'node:zlib'
import type { Compressors, FileMetaData } from 'hyparquet'
import { survey } from './data-columns.ts'
import { contentCutter, type ContentLimits } from '../shared/content-cutter.ts'
import { parsers, cellFormatter } from './data-parquet-cells.ts'
import { lz4Block, lz4Blocks } from './data-parquet-lz4.ts'
import { guardPages } from './data-parquet-pages.ts'
import type { Table } from '../../../core/ports/file-content.ts'
import { optionalPackage } from '../../shared/optional-package.ts'
import { fillRows } from '../shared/tables-fill.ts'

/** Further columns are left out, and the result counts as truncated. */
const mostColumns = 1_000

/**
 * The first rows of a parquet file. Throws when the bytes are not parquet, and Unconfigured when a compression needs
 * another package.
 */
export const readParquet = async (bytes: Uint8Array, most: ContentLimits): Promise<Table> => {
  const { parquetMetadata, parquetRead, parquetSchema } = await optionalPackage('hyparquet', () => import('hyparquet'))
  const { parquetHeader } = await optionalPackage('hyparquet', () => import('hyparquet/src/column.js'))
  const metadata = parquetMetadata(bytes, { geoparquet: false })
  const fields = parquetSchema(metadata).children
  const shown = fields.slice(0, mostColumns)
  const names = shown.map(({ element }) => element.name)
  const rowCount = Number(metadata.num_rows)
  const rowEnd = Math.min(rowCount, Math.ceil(most.values / Math.max(1, shown.length)))
  guardPages(bytes, metadata, new Set(names), rowEnd, parquetHeader)
  const sayers = shown.map(({ element, children }) => (children.length === 0 ? cellFormatter(element) : plainly))
  // The library would turn decimals into doubles.
  for (const { element, children } of shown)
    if (children.length === 0 && element.converted_type === 'DECIMAL') delete element.converted_type
  let raw: readonly (readonly unknown[])[] = []
  await parquetRead({
    file: fileOf(bytes),
    metadata,
    columns: names,
    rowEnd,
    parsers,
    utf8: false,
    geoparquet: false,
    compressors: await compressorsFor(metadata),
    onComplete: (rows) => (raw = rows),
  })
  const rows = raw.map((row) => sayers.map((say, at) => say(row[at])))
  const columns = names.map((name, at) => {
    const columns = survey()
    for (const row of rows) columns.see(row[at])
    return columns.column(name, rows.length)
  })
  const cut = contentCutter(most)
  const filled = fillRows(rows, most, cut)
  const truncated = !filled.whole || cut.cut() || rows.length < rowCount || shown.length < fields.length
  return {
    format: 'parquet',
    kind: 'table',
    rowCount,
    describedRows: rows.length,
    columns,
    truncated,
    rows: filled.rows,
  }
}

const plainly = (value: unknown): unknown => value ?? null

const fileOf = (bytes: Uint8Array) => {
  const start = bytes.byteOffset
  return {
    byteLength: bytes.length,
    slice: (from: number, to = bytes.length) => bytes.buffer.slice(start + from, start + to) as ArrayBuffer,
  }
}

/** Node's own decompression; where it has none for zstd, a package is loaded for files that need it. */
const compressorsFor = async ({ row_groups: groups }: FileMetaData): Promise<Compressors> => {
  const own: Compressors = {
    GZIP: (input, length) => zlib.gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
    BROTLI: (input, length) => zlib.brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
    LZ4: lz4Blocks,
    LZ4_RAW: lz4Block,
  }
  const used = groups.some(({ columns }) => columns.some(({ meta_data: column }) => column?.codec === 'ZSTD'))
  return used ? { ...own, ZSTD: await unpackZstd() } : own
}

/** Unpacks a page to `length` bytes; more bytes would be an attack. */
type Unpack = (input: Uint8Array, length: number) => Uint8Array

const unpackZstd = async (): Promise<Unpack> => {
  if (zstd) return (input, length) => zstd(input, { maxOutputLength: Math.max(1, length) })
  const { decompress } = await optionalPackage('fzstd', () => import('fzstd'))
  return (input, length) => decompress(input, new Uint8Array(length))
}

const { zstdDecompressSync: zstd } = zlib as {
  readonly zstdDecompressSync?: (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array
}
