import { clean } from './clean.ts'
import { type Block, Refused, type Refusal } from './content.ts'
import { readDelimited } from './delimited.ts'
import { docxOf } from './docx.ts'
import type { Format } from './formats.ts'
import { readMarkdown } from './markdown.ts'
import { pdfOf } from './pdf.ts'
import { pptxOf } from './pptx.ts'
import { xlsxOf } from './xlsx.ts'

/** A task for a process of its own: the text may be hostile, and a parser may be slow. */
export interface MakeJob {
  readonly format: Format
  readonly written: 'markdown' | 'csv'
  readonly content: string
}

/** A refusal is a value: an error of the job would reach the caller as an unreadable file. */
export type MakeOutcome =
  { readonly kind: 'made'; readonly bytes: Uint8Array } | { readonly kind: 'refused'; readonly why: Refusal }

const read = { markdown: readMarkdown, csv: readDelimited }

const write: Readonly<Record<Format, (blocks: readonly Block[]) => Uint8Array>> = {
  docx: docxOf,
  xlsx: xlsxOf,
  pptx: pptxOf,
  pdf: pdfOf,
}

/** Makes a file of a text. */
export default ({ format, written, content }: MakeJob): MakeOutcome => {
  try {
    return { kind: 'made', bytes: write[format](read[written](clean(content))) }
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', why: error.why }
    throw error
  }
}
