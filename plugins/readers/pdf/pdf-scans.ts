import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { Unreadable } from '../../../core/errors.ts'
import type { Page } from './pdf-job.ts'
import { readPictures, type Reading } from '../../shared/pictures/ocr.ts'
import { runDecoder } from '../../shared/pictures/raster.ts'

/** The pages per start of the engine, and in ms the time for all pages of a file. */
const together = 4
const patienceMs = 180_000

/** A page without ink has no words in any language. */
const nothing: Scan = { text: '', confidence: 0 }

/** A scanned page, with its language where words were looked for. */
export type Scan = Pick<Reading, 'text' | 'confidence'> & Partial<Pick<Reading, 'language' | 'missing'>>

/**
 * The words on scanned pages, in order. Null when a page cannot be drawn or read, or when time ran out before it.
 * Throws Unconfigured without poppler or the engine.
 */
export const readScans = async (
  pdf: Uint8Array,
  pages: readonly Pick<Page, 'number' | 'longest'>[],
  signal: AbortSignal,
  languages: readonly string[] | null = null,
): Promise<readonly (Scan | null)[]> => {
  const turn = pLimit(availableParallelism())
  const late = AbortSignal.timeout(patienceMs)
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, late, failed.signal])
  const batches = Array.from({ length: Math.ceil(pages.length / together) }, (_, at) =>
    pages.slice(at * together, (at + 1) * together),
  )
  const readInTime = async (batch: typeof pages) => {
    try {
      return await readBatch(pdf, batch, stop, languages)
    } catch (error) {
      if (late.aborted && !signal.aborted) return batch.map(() => null)
      throw error
    }
  }
  try {
    return (await Promise.all(batches.map((batch) => turn(readInTime, batch)))).flat()
  } finally {
    failed.abort()
  }
}

const readBatch = async (
  pdf: Uint8Array,
  pages: readonly Pick<Page, 'number' | 'longest'>[],
  signal: AbortSignal,
  languages: readonly string[] | null,
): Promise<readonly (Scan | null)[]> => {
  const drawn: (Uint8Array | null)[] = []
  for (const page of pages) drawn.push(await drawPage(pdf, page, signal).catch(unlessUnreadable))
  const inked = drawn.filter((picture) => picture !== null && hasInk(picture)) as readonly Uint8Array[]
  const readings = inked.length === 0 ? [] : await readPictures(inked, signal, languages).catch(unlessUnreadable)
  const found = new Map(inked.map((picture, at) => [picture, readings?.[at] ?? null]))
  return drawn.map((picture) => (picture === null ? null : found.has(picture) ? (found.get(picture) ?? null) : nothing))
}

/** Null for what cannot be drawn or read; the other pages still count. */
const unlessUnreadable = (error: unknown): null => {
  if (error instanceof Unreadable) return null
  throw error
}

/** True when a page has visible content: an empty page needs no OCR. */
const hasInk = (picture: Uint8Array): boolean => {
  const pixels = picture.subarray(headLength(picture))
  let darkest = 255
  let lightest = 0
  for (const pixel of pixels) {
    if (pixel < darkest) darkest = pixel
    if (pixel > lightest) lightest = pixel
    if (lightest - darkest > 40) return true
  }
  return false
}

/** The header of PGM ends with the third line. */
const headLength = (picture: Uint8Array): number => {
  let at = 0
  for (let line = 0; line < 3; line++) at = picture.indexOf(10, at) + 1
  return at
}

/** In pixels, for the longer side: enough for small print on A4, and not more for a poster. */
const mostPixels = 3400
const leastPixels = 1000
/** Pixels of an inch, which is 72 points. */
const perInch = 200

/**
 * Draws a PDF page as a grey PGM picture. `longest` is the page's longer side in points. Throws Unreadable, or
 * Unconfigured without poppler.
 */
const drawPage = (
  pdf: Uint8Array,
  page: { readonly number: number; readonly longest: number },
  signal: AbortSignal,
): Promise<Uint8Array> => {
  const pixels = Math.round(Math.min(mostPixels, Math.max(leastPixels, (page.longest / 72) * perInch)))
  const given = [
    ...['-q', '-f', `${page.number}`, '-l', `${page.number}`, '-singlefile'],
    ...['-gray', '-scale-to', `${pixels}`, '-'],
  ]
  return runDecoder({ program: 'pdftoppm', given, input: pdf, most: mostPixels * mostPixels + 100 }, signal)
}
