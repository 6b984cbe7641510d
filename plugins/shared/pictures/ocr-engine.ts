import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page, PSM, Worker } from 'tesseract.js'
import { languageData, optionalPackage } from '../optional-package.ts'
import type { MissingLanguage } from '../../../core/ports/file-content.ts'

export interface Line {
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}

/** A line as the engine reads it. */
export interface ReadLine extends Line {
  /** In pixels of the picture. */
  readonly box: Box
  /** How much text is read, and how surely: the characters of each word by its confidence above one half. */
  readonly evidence: number
  /** The confidence of each word, from 0 to 1. */
  readonly words: readonly number[]
  readonly endsParagraph: boolean
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface ReadPage {
  readonly lines: readonly ReadLine[]
  /** From 0 to 1; 0 without lines. */
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

/** How the engine looks for lines: in columns and blocks that it finds, or in one block. */
export type Layout = 'found' | 'block'

export type ReadPicture = (picture: Uint8Array, layout?: Layout) => Promise<ReadPage>

/** Works with an engine that reads words in one language. */
export const readingIn = async <T>(language: string, work: (read: ReadPicture) => Promise<T>): Promise<T> => {
  const folder = await dataOf(language, words)
  const { OEM, PSM } = await engine()
  const modes: Readonly<Record<Layout, PSM>> = { found: PSM.AUTO, block: PSM.SINGLE_BLOCK }
  return withWorker([language, OEM.LSTM_ONLY, folder], (worker) =>
    work(async (picture, layout = 'found') => {
      await worker.setParameters({ tessedit_pageseg_mode: modes[layout] })
      const { data } = await worker.recognize(Buffer.from(picture), {}, { text: true, blocks: true })
      return pageOf(data)
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

const pageOf = ({ confidence, blocks }: Page): ReadPage => {
  const paragraphs = (blocks ?? []).flatMap((block) => block.paragraphs)
  const lines = paragraphs.flatMap((paragraph) => {
    const own = paragraph.lines.filter(({ text }) => text.trim() !== '')
    return own.map(({ text, confidence, bbox, words }, at): ReadLine => ({
      text: text.trim(),
      confidence: part(confidence),
      box: { left: bbox.x0, top: bbox.y0, right: bbox.x1, bottom: bbox.y1 },
      evidence: words.reduce((sum, word) => sum + [...word.text].length * (word.confidence / 100 - 0.5), 0),
      words: words.map((word) => word.confidence / 100),
      endsParagraph: at === own.length - 1,
    }))
  })
  return { lines, confidence: lines.length === 0 ? 0 : part(confidence) }
}

export const evidenceOf = (lines: readonly ReadLine[]): number => lines.reduce((sum, { evidence }) => sum + evidence, 0)

/** The mean of all words, as the engine gives it for a page. */
export const meanConfidence = (lines: readonly ReadLine[]): number => {
  const words = lines.flatMap((line) => line.words)
  return words.length === 0
    ? 0
    : Math.round((100 * words.reduce((sum, confidence) => sum + confidence, 0)) / words.length) / 100
}

/** A page in the shape in which the job answers. */
export const readingOf = ({ lines, confidence }: ReadPage, language: string): Reading => ({
  text: lines
    .map(({ text, endsParagraph }) => (endsParagraph ? `${text}\n` : text))
    .join('\n')
    .trim(),
  confidence,
  lines: lines.map(({ text, confidence }) => ({ text, confidence })),
  language,
})

/** Tesseract gives its confidence in percent. */
const part = (percent: number): number => Math.round(percent) / 100
