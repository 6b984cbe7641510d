import { apart, type Bounds } from '../apart.ts'

export type Format = 'docx' | 'odt' | 'epub' | 'rtf' | 'html' | 'md' | 'txt'

export interface Section {
  /** Null where the text stands under none. */
  readonly heading: string | null
  readonly text: string
}

export interface Document {
  readonly format: Format
  readonly title: string | null
  readonly sections: readonly Section[]
  readonly truncated: boolean
}

export interface File {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/**
 * The text of a document (docx, odt, rtf, html, epub, md, txt), what it is being told from its bytes first. At most
 * 2,000,000 characters. Throws Unreadable.
 */
export const readDocument = (file: File, signal: AbortSignal, bounds: Bounds = {}): Promise<Document> =>
  apart<Document>('document', { name: file.name, mime: file.mime, bytes: file.bytes }, signal, {
    time: 30_000,
    ...bounds,
  })
