import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page } from 'tesseract.js'
import { engine } from '../../../core/optional-package.ts'
import { type Quarters, turned } from './quarter-turns.ts'

export interface Line {
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}

export interface Reading {
  readonly text: string
  /** From 0 to 1; 0 where nothing was read. */
  readonly confidence: number
  readonly lines: readonly Line[]
}

/** Who reads less surely than this, and so many characters, may see a page that lies on its side or stands on its head. */
const sure = 0.6
const fewCharacters = 50
/** Ms for turning all pictures in search of text: photographs have none from any side. */
const patience = 10_000

/** Reads pictures one after the other with one installed engine, never from the network. */
export default async (images: readonly Uint8Array[]): Promise<readonly Reading[]> => {
  const { createWorker, OEM } = await engine('tesseract.js', () => import('tesseract.js'))
  const langPath = await engine('@tesseract.js-data/eng', async () => modelFolder())
  // A path that is no address is read as a file, and without a cache nothing is written.
  const worker = await createWorker('eng', OEM.LSTM_ONLY, { langPath, cacheMethod: 'none', errorHandler: () => {} })
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

/** Reads from whichever side there is something to read; the next page probably lies as the last one. */
const turning = (read: (image: Uint8Array) => Promise<Reading>) => {
  let likely: Quarters = 0
  let left = patience
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

const modelFolder = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng')), '4.0.0_best_int')

const readingOf = ({ text, confidence, blocks }: Page): Reading => {
  const lines = (blocks ?? [])
    .flatMap((block) => block.paragraphs.flatMap((paragraph) => paragraph.lines))
    .map((line) => ({ text: line.text.trim(), confidence: part(line.confidence) }))
    .filter((line) => line.text !== '')
  return { text: text.trim(), confidence: lines.length === 0 ? 0 : part(confidence), lines }
}

const part = (percent: number): number => Math.round(percent) / 100
