import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page } from 'tesseract.js'
import { optionalPackage, languageData } from '../../../core/optional-package.ts'
import { type Quarters, turned } from './quarter-turns.ts'

export interface Line {
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}

export interface Reading {
  readonly text: string
  /** From 0 to 1; 0 when no text was read. */
  readonly confidence: number
  readonly lines: readonly Line[]
}

export interface OcrJob {
  readonly images: readonly Uint8Array[]
  readonly languages: readonly string[]
}

/** A page with lower confidence or fewer characters may be turned, so other sides are tried. */
const sure = 0.6
const fewCharacters = 50
/** In ms, for turning all pictures: a photograph has no text from any side. */
const turningMs = 10_000

/** Reads pictures in each of the languages, never from the network; the surest reading of each picture stands. */
export default async ({ images, languages }: OcrJob): Promise<readonly Reading[]> => {
  const folders = await Promise.all(languages.map(folderOf))
  let best: readonly Reading[] = []
  for (const [at, language] of languages.entries()) {
    const readings = await readIn(language, folders[at] ?? '', images)
    best = readings.map((reading, place) => surer(best[place], reading))
  }
  return best
}

const surer = (one: Reading | undefined, other: Reading): Reading =>
  one !== undefined && one.confidence >= other.confidence ? one : other

/** Reads pictures one after the other with one installed engine. */
const readIn = async (language: string, langPath: string, images: readonly Uint8Array[]) => {
  const { createWorker, OEM } = await optionalPackage('tesseract.js', () => import('tesseract.js'))
  // A path that is no URL is read as a file. Without a cache, the engine writes nothing.
  const worker = await createWorker(language, OEM.LSTM_ONLY, { langPath, cacheMethod: 'none', errorHandler: () => {} })
  try {
    const read = async (image: Uint8Array): Promise<Reading> => {
      const { data } = await worker.recognize(Buffer.from(image), {}, { text: true, blocks: true })
      return readingOf(data)
    }
    const upright = turning(read)
    const readings: Reading[] = []
    for (const image of images) readings.push(await upright(image))
    return readings
  } finally {
    await worker.terminate()
  }
}

/** Tries the sides of a picture until one has text. The next page probably has the same side up. */
const turning = (read: (image: Uint8Array) => Promise<Reading>) => {
  let likely: Quarters = 0
  let left = turningMs
  return async (image: Uint8Array): Promise<Reading> => {
    let asItLies: Reading | null = null
    for (const quarters of new Set<Quarters>([likely, 0, 1, 3, 2])) {
      if (asItLies !== null && left <= 0) break
      const picture = turned(image, quarters)
      if (picture === null) continue
      const begun = performance.now()
      const reading = await read(picture)
      if (reading.confidence >= sure) {
        likely = quarters
        return reading
      }
      if (quarters === 0) asItLies = reading
      else left -= performance.now() - begun
      if (quarters === likely && reading.text.length < fewCharacters) break
    }
    return asItLies ?? read(image)
  }
}

/** The folder with the model of a language. Throws Unconfigured, with the package to install, where it is missing. */
const folderOf = (language: string): Promise<string> => {
  const name = `${languageData}${language}`
  return optionalPackage(name, async () =>
    join(dirname(createRequire(import.meta.url).resolve(name)), '4.0.0_best_int'),
  )
}

const readingOf = ({ text, confidence, blocks }: Page): Reading => {
  const lines = (blocks ?? [])
    .flatMap((block) => block.paragraphs.flatMap((paragraph) => paragraph.lines))
    .map((line) => ({ text: line.text.trim(), confidence: part(line.confidence) }))
    .filter((line) => line.text !== '')
  return { text: text.trim(), confidence: lines.length === 0 ? 0 : part(confidence), lines }
}

const part = (percent: number): number => Math.round(percent) / 100
