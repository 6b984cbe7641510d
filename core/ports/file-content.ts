/** What readers give of a file, by the kind of the file. All of it is plain JSON. */
export interface Contents {
  readonly document: Document
  readonly slides: Slides
  readonly spreadsheet: Sheets
  readonly data: Data
  readonly pdf: Pdf
  readonly image: Seen
}

/** The encoding of a text, and how sure the reader is of it, from 0 to 1: 1 where a mark or the file's type says it. */
export interface Encoding {
  readonly name: string
  readonly confidence: number
}

/** What stands beside the text of a file, in one shape for all formats; a list that would be empty is absent. */
export interface Beside {
  /** `at` is a cell, a slide or a sheet, null where the file has none. */
  readonly links?: readonly { readonly url: string; readonly text: string; readonly at: string | null }[]
  /** Pictures that somebody described in words. */
  readonly images?: readonly { readonly alt: string; readonly at: string | null }[]
  readonly charts?: readonly Chart[]
  readonly comments?: readonly { readonly author: string | null; readonly text: string; readonly at: string | null }[]
  /** What stands above and below the text of every page. */
  readonly headers?: readonly string[]
  readonly footers?: readonly string[]
  /** Text that the file hides. */
  readonly hidden?: readonly string[]
}

export interface Chart {
  readonly title: string | null
  readonly series: readonly {
    /** The name, or the place of the cell that holds it. */
    readonly name: string | null
    readonly categories: readonly string[]
    readonly values: readonly (number | null)[]
  }[]
}

export interface Document extends Beside {
  /** Such as `docx`. */
  readonly format: string
  readonly title: string | null
  readonly sections: readonly DocumentSection[]
  readonly truncated: boolean
  /** Of plain text, Markdown and pages. */
  readonly encoding?: Encoding
}

export interface DocumentSection {
  /** Null where the text stands under none. */
  readonly heading: string | null
  readonly text: string
}

export interface Slides extends Beside {
  readonly slides: readonly Slide[]
  readonly truncated: boolean
}

export interface Slide {
  /** Its place in the presentation, from 1. */
  readonly number: number
  readonly title: string | null
  /** All but the title. */
  readonly text: string
  /** What the speaker is to say. */
  readonly notes: string | null
  readonly hidden: boolean
}

export interface Sheets extends Beside {
  readonly format: string
  /** Of csv and tsv. */
  readonly encoding?: Encoding
  readonly sheets: readonly Sheet[]
  readonly truncated: boolean
}

export interface Sheet {
  readonly name: string
  /** From the first; several empty rows in a row are one, and nothing is said of the empty end of a row. */
  readonly rows: readonly (readonly Cell[])[]
  /** The last row and column with anything in it, whether or not it is among the rows. */
  readonly rowCount: number
  readonly columnCount: number
  readonly truncated: boolean
  /** The number of each row in the file, the first of several empty ones; absent where the rows count from 1. */
  readonly rowNumbers?: readonly number[]
  /** True for a sheet that the file hides; absent for others. */
  readonly hidden?: true
  /** Numbers of hidden rows and letters of hidden columns; absent where there are none. */
  readonly hiddenRows?: readonly number[]
  readonly hiddenColumns?: readonly string[]
}

/** Dates and times are ISO 8601 text without a zone, and errors their text. */
export type Cell = string | number | boolean | null

export type Data = Table | Records | Tree

/** A list of records whose values are plain: what there is by column, and the first rows. */
export interface Table {
  readonly format: string
  readonly encoding?: Encoding
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
  readonly format: string
  readonly encoding?: Encoding
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
  readonly format: string
  readonly encoding?: Encoding
  readonly kind: 'tree'
  /** What the value is made of, level by level, from samples where it is long. */
  readonly outline: string
  readonly truncated: boolean
  readonly value: Value
}

export interface Column {
  readonly name: string
  /** What its values are or look like. */
  readonly type: string
  readonly nulls: number
  readonly min?: number | string
  readonly max?: number | string
}

/** What a file held, as plain JSON. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value }

export interface Pdf extends Beside {
  readonly pages: readonly PdfPage[]
  /** Values of form fields; absent where there are none. */
  readonly forms?: readonly { readonly name: string; readonly value: string; readonly at: string | null }[]
  /** Bookmarks, each with its depth from 1; absent where there are none. */
  readonly outline?: readonly { readonly title: string; readonly level: number }[]
  readonly title: string | null
  readonly pageCount: number
  /** Whether there may be text that is not among the pages. */
  readonly truncated: boolean
}

export interface PdfPage {
  readonly number: number
  readonly text: string
  readonly source: 'text' | 'ocr'
  /** How sure OCR is, from 0 to 1; absent for text of the file. */
  readonly confidence?: number
  /** True where the fonts don't tell the characters of the text and OCR could not read the page; absent for others. */
  readonly untrusted?: true
}

/** Pages as OCR reads them. */
export interface Seen {
  /** The confidence is between 0 and 1. */
  readonly pages: readonly { readonly number: number; readonly text: string; readonly confidence: number }[]
  /** Whether there is more than these pages, or one of them could not be read. */
  readonly truncated: boolean
}
