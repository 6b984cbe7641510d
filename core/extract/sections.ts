import { Unconfigured } from '../errors.ts'
import type { OpenFile } from '../ports/tool.ts'
import { readDocument } from './documents/document.ts'
import { headOf } from './pictures/image-heads.ts'
import { readImage } from './pictures/ocr.ts'
import { readPdf } from './pictures/pdf.ts'
import { readSheets } from './tables/sheets.ts'
import { readSlides } from './documents/slides.ts'

/** A stretch of a file's text, and where it stands. */
export interface Section {
  readonly text: string
  readonly heading: string | null
  /** Page or slide, from 1. */
  readonly page: number | null
}

type Read = (file: OpenFile, signal: AbortSignal) => Promise<readonly Section[]>

/** What there is to find in a file, whatever it is. Throws Unreadable where nothing can be made of it. */
export const sectionsOf: Read = (file, signal) => readOf(file)(file, signal)

const readOf = ({ name, mime, bytes }: OpenFile): Read => {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1')
  if (head.includes('%PDF-')) return ofPdf
  if (headOf(bytes) !== null) return ofImage
  if (/^(xlsx|xlsm|xls|ods|csv|tsv)$/.test(ending) || /spreadsheet|ms-excel|text\/(csv|tab-separated)/.test(mime))
    return ofSheets
  if (/^(pptx|ppsx|potx|odp|otp)$/.test(ending) || /presentation/.test(mime)) return ofSlides
  return ofDocument
}

const ofPdf: Read = async (file, signal) => {
  const { pages } = await readPdf(file, signal)
  return pages.map(({ number, text }) => ({ text, heading: null, page: number }))
}

/** Lines that are made of noise are worse than none. */
const leastSure = 0.5

const ofImage: Read = async ({ bytes }, signal) => {
  const { text, confidence } = await readImage(bytes, signal).catch((error: unknown) => {
    if (error instanceof Unconfigured) return { text: '', confidence: 0 }
    throw error
  })
  return confidence < leastSure ? [] : [{ text, heading: null, page: null }]
}

const ofSheets: Read = async (file, signal) => {
  const { sheets } = await readSheets(file, signal)
  return sheets.map(({ name, rows }) => ({
    text: rows.map((row) => row.map((cell) => cell ?? '').join(' | ')).join('\n'),
    heading: name,
    page: null,
  }))
}

const ofSlides: Read = async (file, signal) => {
  const { slides } = await readSlides(file, signal)
  return slides.map(({ number, title, text, notes }) => ({
    text: notes === null ? text : `${text}\n\n${notes}`,
    heading: title,
    page: number,
  }))
}

const ofDocument: Read = async (file, signal) => {
  const { sections } = await readDocument(file, signal)
  return sections.map((section) => ({ ...section, page: null }))
}
