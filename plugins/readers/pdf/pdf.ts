import { Unconfigured } from '../../../core/errors.ts'
import type { Pdf, PdfPage, Seen } from '../../../core/ports/file-content.ts'
import { cutPages } from '../../shared/cut-pages.ts'
import { runApart } from '../../shared/run-apart.ts'
import type { PdfJob, Layer, Page } from './pdf-job.ts'
import { languagesOf } from '../../shared/pictures/ocr.ts'
import { readScans, type Scan } from './pdf-scans.ts'

/** Absent bounds are 500 pages, 50 scans and 2,000,000 characters. */
export interface PdfBounds {
  readonly pages?: number
  /** The number of pages that OCR may read. */
  readonly scans?: number
  readonly characters?: number
  /** The first page to read, from 1, and the last page. */
  readonly from?: number
  readonly to?: number
  /** Languages in which scanned pages are read; null lets the script of each page decide. */
  readonly languages?: readonly string[] | null
}

/** A page with less text may be a scan with a stamp. */
const fewCharacters = 50
/** The confidence from which OCR may replace a text layer. */
const leastSure = 0.6

/**
 * The text of a PDF. OCR reads pages with little or no text layer; without an OCR engine, they stay as they are. Throws
 * Unreadable when the file is not PDF, needs a password or unpacks to too much.
 */
export const readPdf = async (
  { bytes }: { readonly bytes: Uint8Array },
  signal: AbortSignal,
  bounds: PdfBounds = {},
): Promise<Pdf> => {
  const { scans = 50, characters = 2_000_000, from = 1, to = Infinity } = bounds
  const mostPages = Math.min(bounds.pages ?? 500, to - from + 1)
  const layer = await openPdf({ bytes, from, pages: mostPages, characters }, signal)
  const sparse = layer.pages.filter(
    ({ text, whole, trusted }) =>
      !trusted || ((whole || text === '') && text.replace(/\s+/g, '').length < fewCharacters),
  )
  const looked = sparse.slice(0, scans)
  const readings =
    looked.length === 0 ? [] : await readScans(bytes, looked, signal, bounds.languages).catch(unlessMissing)
  const seen = new Map(looked.map(({ number }, at) => [number, readings?.[at] ?? null]))
  const pages = layer.pages.map((page) => joined(page, seen.get(page.number) ?? null))
  const kept = cutPages(pages, characters)
  const { missing } = languagesOf(null, readings ?? [])
  return {
    ...layer.beside,
    ...(missing && { missing }),
    pages: kept.pages,
    title: layer.title,
    pageCount: layer.pageCount,
    truncated:
      kept.truncated ||
      layer.pages.length < Math.min(to, layer.pageCount) - from + 1 ||
      layer.pages.some(({ number, whole }) => !whole && !seen.get(number)) ||
      sparse.some(({ number, text }) => text === '' && !seen.get(number)),
  }
}

/**
 * The OCR text of a PDF's pages, from the first or a later one, in place of any text layer. Throws Unreadable, or Unconfigured when a program or
 * package is missing.
 */
export const seePdf = async (
  bytes: Uint8Array,
  signal: AbortSignal,
  most: number,
  languages: readonly string[] | null = null,
  from = 1,
): Promise<Seen> => {
  const { pageCount, pages } = await openPdf({ bytes, from, pages: most, characters: 2_000_000 }, signal)
  const readings = await readScans(bytes, pages, signal, languages)
  return {
    ...languagesOf(languages, readings),
    pages: pages.map(({ number }, at) => {
      const { text, confidence, language } = readings[at] ?? { text: '', confidence: 0 }
      return { number, text, confidence, ...(language !== undefined && { language }) }
    }),
    truncated: from + pages.length <= pageCount || readings.includes(null),
  }
}

const openPdf = (job: PdfJob, signal: AbortSignal): Promise<Layer> =>
  runApart<Layer>('readers/pdf/pdf-job', job, signal)

/** Without an engine, pages keep their text layers. */
const unlessMissing = (error: unknown): null => {
  if (error instanceof Unconfigured) return null
  throw error
}

/** OCR replaces a text layer with much less text, or with unknown characters; uncertain OCR never does. */
const joined = ({ number, text, trusted }: Page, reading: Scan | null): PdfPage => {
  const sure = reading !== null && reading.confidence >= leastSure
  const language = reading?.language
  const seen = {
    ...{ number, text: reading?.text ?? '', source: 'ocr' as const, confidence: reading?.confidence ?? 0 },
    ...(language !== undefined && { language }),
  }
  if (!trusted) return sure && seen.text !== '' ? seen : { number, text, source: 'text', untrusted: true }
  return sure && seen.text.length > text.length * 2 ? seen : { number, text, source: 'text' }
}
