import { runDecoder } from '../../shared/pictures/raster.ts'

/** In pixels, for the longer side: enough for small print on A4, and not more for a poster. */
const mostPixels = 3400
const leastPixels = 1000
/** Pixels of an inch, which is 72 points. */
const perInch = 200

/**
 * Draws a PDF page as a grey PGM picture. `longest` is the page's longer side in points. Throws Unreadable, or
 * Unconfigured without poppler.
 */
export const drawPage = (
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
