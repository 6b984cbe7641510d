import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page, Worker } from 'tesseract.js'
import { languageData, optionalPackage } from '../../../core/optional-package.ts'
import type { MissingLanguage } from '../../../core/ports/file-content.ts'

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
  /** The language in which the text was read. */
  readonly language: string
  /** Present when the picture has a script that no installed language reads. */
  readonly missing?: MissingLanguage
}

/** The two generations of data: one reads words, the other tells scripts. */
const words = '4.0.0_best_int'
const scripts = '4.0.0'

/** Works with an engine that reads words in one language. */
export const readingIn = async <T>(
  language: string,
  work: (read: (picture: Uint8Array) => Promise<Reading>) => Promise<T>,
): Promise<T> => {
  const folder = await dataOf(language, words)
  const { OEM } = await engine()
  return withWorker([language, OEM.LSTM_ONLY, folder], (worker) =>
    work(async (picture) => {
      const { data } = await worker.recognize(Buffer.from(picture), {}, { text: true, blocks: true })
      return readingOf(data, language)
    }),
  )
}

/** A page with fewer characters tells no script. */
const fewestCharacters = '20'
/** How far the best script is ahead of the second one; twice is half as much again. */
const leastSure = 1

/** The script of each picture by its name in Unicode, with Japanese and Korean as one each; null where it is unclear. */
export const scriptsOf = async (pictures: readonly Uint8Array[]): Promise<readonly (string | null)[]> => {
  if (pictures.length === 0) return []
  const folder = await dataOf('osd', scripts)
  const { OEM } = await engine()
  return withWorker(['osd', OEM.TESSERACT_ONLY, folder], async (worker) => {
    await worker.setParameters({ min_characters_to_try: fewestCharacters })
    const found: (string | null)[] = []
    for (const picture of pictures) {
      const { data } = await worker.detect(Buffer.from(picture))
      found.push((data.script_confidence ?? 0) >= leastSure ? data.script : null)
    }
    return found
  })
}

/** Rejects with Unconfigured when the package is not installed. */
const engine = () => optionalPackage('tesseract.js', () => import('tesseract.js'))

const withWorker = async <T>(
  [data, mode, langPath]: readonly [data: string, mode: number, langPath: string],
  work: (worker: Worker) => Promise<T>,
): Promise<T> => {
  const { createWorker } = await engine()
  // A path that is no URL is read as a file. Without a cache, the engine writes nothing.
  const worker = await createWorker(data, mode, { langPath, cacheMethod: 'none', errorHandler: () => {} })
  try {
    return await work(worker)
  } finally {
    await worker.terminate()
  }
}

/** The folder with the data of a language. Throws Unconfigured, with the package to install, where it is missing. */
const dataOf = (language: string, generation: string): Promise<string> => {
  const name = `${languageData}${language}`
  return optionalPackage(name, async () => join(dirname(createRequire(import.meta.url).resolve(name)), generation))
}

/** Whether the data of a language is there. */
export const isInstalled = (language: string): Promise<boolean> =>
  dataOf(language, words).then(
    () => true,
    () => false,
  )

const readingOf = ({ text, confidence, blocks }: Page, language: string): Reading => {
  const lines = (blocks ?? [])
    .flatMap((block) => block.paragraphs.flatMap((paragraph) => paragraph.lines))
    .map((line) => ({ text: line.text.trim(), confidence: part(line.confidence) }))
    .filter((line) => line.text !== '')
  return { text: text.trim(), confidence: lines.length === 0 ? 0 : part(confidence), lines, language }
}

/** Tesseract gives its confidence in percent. */
const part = (percent: number): number => Math.round(percent) / 100
