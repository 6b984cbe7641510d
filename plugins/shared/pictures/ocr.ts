import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import { runApart } from '../run-apart.ts'
import { openImage, type Image } from './image.ts'
import type { MissingLanguage } from '../../../core/ports/file-content.ts'
import type { Reading } from './ocr-engine.ts'
import type { OcrJob } from './ocr-job.ts'
import { usualLanguages } from './ocr-languages.ts'
import { pgmOf } from './grey.ts'
import { drawImage } from './raster-image.ts'

export type { Line, Reading } from './ocr-engine.ts'

/** In pixels of the longer side: larger pictures are reduced. */
const longestPixels = 3400

/** The number of pages per start of the engine. */
const together = 4

/** The words on the first page of an image. Throws Unreadable, or Unconfigured without engine or decoder. */
export const readImage = async (bytes: Uint8Array, signal: AbortSignal): Promise<Reading> => {
  const [reading] = await readImagePages(openImage(bytes), signal, 1)
  if (reading === undefined) throw new Unreadable()
  return reading
}

/** The words on pages of an image, from the first or a later one. Without languages, the script of each page decides. */
export const readImagePages = async (
  image: Image,
  signal: AbortSignal,
  most: number,
  languages: readonly string[] | null = null,
  from = 1,
): Promise<readonly Reading[]> => {
  const wish = { image, signal, languages }
  const readings: Reading[] = []
  const pages = Math.min(image.pages - from + 1, most)
  while (readings.length < pages) {
    const numbers = Array.from(
      { length: Math.min(together, pages - readings.length) },
      (_, at) => from + readings.length + at,
    )
    readings.push(...(await readAt(wish, numbers)))
  }
  return readings
}

interface OcrTask {
  readonly image: Image
  readonly languages: readonly string[] | null
  readonly signal: AbortSignal
}

const readAt = async ({ image, languages, signal }: OcrTask, pages: readonly number[]) => {
  const pictures: Uint8Array[] = []
  for (const page of pages) pictures.push(await legible(image, page, signal))
  return readPictures(pictures, signal, languages)
}

/** Telling the script takes as long as one language, and a script has few languages. */
const languagesByScript = 3

/** In ms, for a picture in a language: a bounded number of readings on a busy machine. */
const pictureMs = 60_000

/** The words in bounded PGM, PNG or JPEG pictures, with one start of the engine. */
export const readPictures = (
  images: readonly Uint8Array[],
  signal: AbortSignal,
  languages: readonly string[] | null = null,
): Promise<readonly Reading[]> => {
  const job: OcrJob = { images, languages }
  const time = pictureMs * (1 + images.length) * (languages?.length ?? languagesByScript)
  return runApart<readonly Reading[]>('shared/pictures/ocr-job', job, signal, { time })
}

/** The languages in which pages were read, and those whose data would read them better. */
export const languagesOf = (
  wanted: readonly string[] | null,
  readings: readonly (Partial<Pick<Reading, 'language' | 'missing'>> | null)[],
): { readonly languages: readonly string[]; readonly missing?: readonly MissingLanguage[] } => {
  const languages = wanted ?? [
    ...new Set([...usualLanguages, ...readings.flatMap((reading) => reading?.language ?? [])]),
  ]
  const missing = new Map(
    readings.flatMap((reading) => (reading?.missing ? [[reading.missing.script, reading.missing] as const] : [])),
  )
  return { languages, ...(missing.size > 0 && { missing: [...missing.values()] }) }
}

const legible = async (image: Image, page: number, signal: AbortSignal): Promise<Uint8Array> => {
  try {
    return pgmOf(await drawImage(image, { colours: 'grey', longest: longestPixels, page }, signal))
  } catch (error) {
    const plain = image.format === 'png' || image.format === 'jpeg'
    if (!(error instanceof Unconfigured && plain && image.width * image.height <= longestPixels * longestPixels))
      throw error
    // The engine itself decodes these formats.
    return image.bytes
  }
}
