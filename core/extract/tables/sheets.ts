import { apart } from '../apart.ts'
import type { Most } from './data-cut.ts'

/** Dates and times are ISO 8601 text without a zone, and errors their text. */
export type Cell = string | number | boolean | null

export interface Sheet {
  readonly name: string
  /** From the first; several empty rows in a row are one, and nothing is said of the empty end of a row. */
  readonly rows: readonly (readonly Cell[])[]
  /** The last row and column with anything in it, whether or not it is among the rows. */
  readonly rowCount: number
  readonly columnCount: number
  readonly truncated: boolean
}

export interface Sheets {
  readonly format: string
  readonly sheets: readonly Sheet[]
  readonly truncated: boolean
}

export interface SheetFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** The cells of an xlsx, xlsb, xls, ods, csv or tsv. Of a large one every sheet shows its beginning. Throws Unreadable for what is none or needs a password. */
export const readSheets = (
  { name, mime, bytes }: SheetFile,
  signal: AbortSignal,
  most: Most = { values: 200_000, characters: 2_000_000 },
): Promise<Sheets> => apart<Sheets>('sheets', { name, mime, bytes, most }, signal)
