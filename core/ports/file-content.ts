/** The content of a file by its kind, in plain JSON. */
export interface Contents {
  readonly document: Document
  readonly slides: Slides
  readonly spreadsheet: Sheets
  readonly data: Data
  readonly pdf: Pdf
  readonly image: Seen
}

/**
 * The encoding of a text, and the reader's confidence from 0 to 1: 1 when a mark or the file's type names the encoding.
 */
export interface Encoding {
  readonly name: string
  readonly confidence: number
}

/** The parts beside a file's text, in one shape for all formats. An empty list is absent. */
export interface Beside {
  /** `at` is a cell, a slide or a sheet; null when the file has none. */
  readonly links?: readonly { readonly url: string; readonly text: string; readonly at: string | null }[]
  /** Pictures with a description. */
  readonly images?: readonly { readonly alt: string; readonly at: string | null }[]
  readonly charts?: readonly Chart[]
  readonly comments?: readonly { readonly author: string | null; readonly text: string; readonly at: string | null }[]
  /** The texts above and below every page. */
  readonly headers?: readonly string[]
  readonly footers?: readonly string[]
  /** Text that the file hides. */
  readonly hidden?: readonly string[]
  /** Values of form fields; `at` is a page. */
  readonly forms?: readonly { readonly name: string; readonly value: string; readonly at: string | null }[]
}

/** A diagram by its numbers, since its picture tells a model little. */
export interface Chart {
  readonly title: string | null
  readonly series: readonly {
    /** The name, or the place of the cell that holds it. */
    readonly name: string | null
    /** The labels along the axis, one for each value. */
    readonly categories: readonly string[]
    /** Null for a gap in the series. */
    readonly values: readonly (number | null)[]
  }[]
}

export interface Document extends Beside {
  /** A format such as `docx`. */
  readonly format: string
  readonly title: string | null
  readonly sections: readonly DocumentSection[]
  /** True when the file goes on where the text ends. */
  readonly truncated: boolean
  /** For plain text, Markdown and pages. */
  readonly encoding?: Encoding
}

/** The text under one heading. */
export interface DocumentSection {
  /** Null when no heading stands over the text. */
  readonly heading: string | null
  readonly text: string
}

export interface Slides extends Beside {
  readonly slides: readonly Slide[]
  /** True when further slides exist. */
  readonly truncated: boolean
}

/** One slide with its notes. */
export interface Slide {
  /** The place in the presentation, from 1. */
  readonly number: number
  /** Null when the slide has no title. */
  readonly title: string | null
  /** All text except the title. */
  readonly text: string
  /** The notes of the speaker. */
  readonly notes: string | null
  /** True when the presentation skips the slide. */
  readonly hidden: boolean
}

/** A workbook, or a table of text as one sheet. */
export interface Sheets extends Beside {
  /** A format such as `xlsx` or `csv`. */
  readonly format: string
  /** For csv and tsv. */
  readonly encoding?: Encoding
  readonly sheets: readonly Sheet[]
  /** True when a sheet is left out or cut. */
  readonly truncated: boolean
}

/** One sheet. A formula is its last computed result, or its own text where the file holds none. */
export interface Sheet {
  readonly name: string
  /** Rows from the first row. Consecutive empty rows are joined, and empty cells at the end of a row are left out. */
  readonly rows: readonly (readonly Cell[])[]
  /** The last row and column with content, even when the rows do not include it. */
  readonly rowCount: number
  readonly columnCount: number
  /** True when the sheet has content outside `rows`. */
  readonly truncated: boolean
  /** The number of each row in the file, for joined rows the first number; absent when the rows count from 1. */
  readonly rowNumbers?: readonly number[]
  /** The letters of the first column of the rows; absent where it is A. */
  readonly firstColumn?: string
  /** True when the file hides the sheet; absent otherwise. */
  readonly hidden?: true
  /** Numbers of hidden rows and letters of hidden columns; absent when there are none. */
  readonly hiddenRows?: readonly number[]
  readonly hiddenColumns?: readonly string[]
}

/** Dates and times are ISO 8601 text without a zone, and errors are their text. */
export type Cell = string | number | boolean | null

/** The shape of data decides the form: even rows, uneven records, or a single value. */
export type Data = Table | Records | Tree

/** A list of records with plain values: a description of each column, and the first rows. */
export interface Table {
  readonly format: string
  readonly encoding?: Encoding
  readonly kind: 'table'
  readonly rowCount: number
  /** The number of rows behind the description of the columns. */
  readonly describedRows: number
  readonly columns: readonly Column[]
  /** True when `rows` are not all rows. */
  readonly truncated: boolean
  readonly rows: readonly (readonly Value[])[]
}

/** A list of records whose values are nested or whose fields differ. */
export interface Records {
  readonly format: string
  readonly encoding?: Encoding
  readonly kind: 'records'
  readonly recordCount: number
  /** The number of unreadable lines, which are left out. */
  readonly brokenLines: number
  /** The structure of the records by level, as text. */
  readonly outline: string
  readonly columns: readonly Column[]
  readonly truncated: boolean
  readonly records: readonly Value[]
}

/** A single value, such as a configuration file. */
export interface Tree {
  readonly format: string
  readonly encoding?: Encoding
  readonly kind: 'tree'
  /** The structure of the value by level; a long value is sampled. */
  readonly outline: string
  readonly truncated: boolean
  readonly value: Value
}

/** What the described rows have in one column. */
export interface Column {
  readonly name: string
  /** The type of the values, or the type that their texts look like. */
  readonly type: string
  /** The number of rows without a value. */
  readonly nulls: number
  /** The smallest number; absent, like `max`, in a column without numbers. Numbers beyond 2^53 are text. */
  readonly min?: number | string
  readonly max?: number | string
}

/** The content of a file, as plain JSON. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value }

export interface Pdf extends Beside {
  readonly pages: readonly PdfPage[]
  /** Data of languages that would read scanned pages better; absent when none is missing. */
  readonly missing?: readonly MissingLanguage[]
  /** Bookmarks with their depth from 1; absent when there are none. */
  readonly outline?: readonly { readonly title: string; readonly level: number }[]
  readonly title: string | null
  /** All pages of the file, also those that were not read. */
  readonly pageCount: number
  /** True when the file may have text beyond these pages. */
  readonly truncated: boolean
}

/** The text of one page, from the file or from its picture. */
export interface PdfPage {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** `ocr` where the file holds a scan, or text that its fonts do not identify. */
  readonly source: 'text' | 'ocr'
  /** OCR's confidence from 0 to 1, and the language in which it read; absent for text from the file. */
  readonly confidence?: number
  readonly language?: string
  /** True when the fonts do not identify the characters and OCR could not read the page; absent otherwise. */
  readonly untrusted?: true
}

/** A script that no installed language reads. */
export interface MissingLanguage {
  /** By its name in Unicode, such as `Cyrillic`. */
  readonly script: string
  /** The most widespread language of the script, by its name of Tesseract. */
  readonly language: string
  /** What installs its data. */
  readonly command: string
}

/** A page as OCR read it. */
export interface SeenPage {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
  /** The language in which the page was read, by its name of Tesseract; absent where the reader doesn't say it. */
  readonly language?: string
}

/** Pages as OCR reads them. */
export interface Seen {
  /** In which they were read; absent where the reader doesn't say it. */
  readonly languages?: readonly string[]
  /** Data of languages that would read the pages better; absent when none is missing. */
  readonly missing?: readonly MissingLanguage[]
  readonly pages: readonly SeenPage[]
  /** True when further pages exist, or a page was unreadable. */
  readonly truncated: boolean
}
