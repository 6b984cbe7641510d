import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page } from 'tesseract.js'
import { engine } from '../engine.ts'

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

/** Reads pictures one after the other with one engine, from what is installed and never from the network. */
export default async (images: readonly Uint8Array[]): Promise<readonly Reading[]> => {
  const { createWorker, OEM } = await engine('tesseract.js', () => import('tesseract.js'))
  const langPath = await engine('@tesseract.js-data/eng', async () => modelFolder())
  // A path that is no address is read as a file, and without a cache nothing is written.
  const worker = await createWorker('eng', OEM.LSTM_ONLY, { langPath, cacheMethod: 'none', errorHandler: () => {} })
  try {
    const readings: Reading[] = []
    for (const image of images) {
      const { data } = await worker.recognize(Buffer.from(image), {}, { text: true, blocks: true })
      readings.push(readingOf(data))
    }
    return readings
  } finally {
    await worker.terminate()
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
