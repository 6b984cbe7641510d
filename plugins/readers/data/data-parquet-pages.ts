import { Unreadable } from '../../../core/errors.ts'

/** The header of a page, by the names of the Thrift definition. */
export interface Header {
  readonly type: string
  readonly uncompressed_page_size: number
  readonly compressed_page_size: number
  readonly data_page_header?: { readonly num_values: number } | undefined
  readonly dictionary_page_header?: { readonly num_values: number } | undefined
  readonly data_page_header_v2?: { readonly num_values: number } | undefined
}

/** Where the pages of a column stand in the file. */
interface Column {
  readonly path_in_schema: readonly string[]
  readonly dictionary_page_offset?: bigint
  readonly data_page_offset: bigint
  readonly total_compressed_size: bigint
}

interface Metadata {
  readonly row_groups: readonly {
    readonly columns: readonly { readonly meta_data?: Column }[]
    readonly num_rows: bigint
  }[]
}

interface Reader {
  readonly view: DataView
  offset: number
}

/** Limits over all pages: the unpacked bytes, and the values, since a few bytes can claim many values. */
const mostBytes = 200_000_000
const mostValues = 30_000_000

/** Checks the claims of all pages of the first rows before the library trusts them. Throws Unreadable. */
export const guardPages = (
  bytes: Uint8Array,
  metadata: Metadata,
  columns: ReadonlySet<string>,
  rows: number,
  parse: (reader: Reader) => Header,
): void => {
  let before = 0
  let size = 0
  let values = 0
  for (const group of metadata.row_groups) {
    if (before >= rows) return
    for (const { meta_data: column } of group.columns) {
      if (!column || !columns.has(column.path_in_schema[0]!)) continue
      const enough = column.path_in_schema.length === 1 ? rows - before : Infinity
      for (const page of pages(bytes, column, enough, parse)) {
        size += page.uncompressed_page_size
        values += countOf(page)
        if (!(size <= mostBytes && values <= mostValues)) throw new Unreadable()
      }
    }
    before += Number(group.num_rows)
  }
}

/** `enough` in rows ends the walk, since later pages are never read. */
function* pages(
  bytes: Uint8Array,
  column: Column,
  enough: number,
  parse: (reader: Reader) => Header,
): Generator<Header> {
  const start = Math.min(Number(column.dictionary_page_offset ?? Infinity), Number(column.data_page_offset))
  const end = Math.min(bytes.length, start + Number(column.total_compressed_size))
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, end), offset: start }
  for (let rows = 0; rows < enough && reader.offset < end - 1;) {
    const page = parse(reader)
    if (!(page.compressed_page_size >= 0 && page.uncompressed_page_size >= 0)) throw new Unreadable()
    yield page
    reader.offset += page.compressed_page_size
    if (page.type !== 'DICTIONARY_PAGE') rows += countOf(page)
  }
}

const countOf = (page: Header): number =>
  (page.data_page_header ?? page.data_page_header_v2 ?? page.dictionary_page_header)?.num_values ?? 0
