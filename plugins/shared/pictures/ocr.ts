import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import { runApart } from '../run-apart.ts'
import { openImage, type Image } from './image.ts'
import type { MissingLanguage } from '../../../core/ports/file-content.ts'
import type { Reading } from './ocr-engine.ts'
import type { OcrJob } from './ocr-job.ts'
import { usualLanguages } from './ocr-languages.ts'
import { drawImage, type Pixels } from './raster-image.ts'

export type { Line, Reading } from './ocr-engine.ts'

/** In pixels of the longer side: larger pictures are reduced, smaller ones are doubled. */
const longestPixels = 3400
const small = 1500

/** A reading with this confidence needs no second one. */
const clear = 0.85

/** The number of pages per start of the engine. */
const together = 4

/**
 * The words on the first page of an image. Throws Unreadable, or Unconfigured when the engine or a decoder is missing.
 */
export const readImage = async (bytes: Uint8Array, signal: AbortSignal): Promise<Reading> => {
  const [reading] = await readImagePages(openImage(bytes), signal, 1)
  if (reading === undefined) throw new Unreadable()
  return reading
}

/** The words on the first pages of an image. Without languages, the script of each page decides. */
export const readImagePages = async (
  image: Image,
  signal: AbortSignal,
  most: number,
  languages: readonly string[] | null = null,
): Promise<readonly Reading[]> => {
  const wish = { image, signal, languages }
  const readings: Reading[] = []
  const pages = Math.min(image.pages, most)
  while (readings.length < pages) {
    const numbers = Array.from(
      { length: Math.min(together, pages - readings.length) },
      (_, at) => readings.length + at + 1,
    )
    const enlarge = Math.max(image.width, image.height) < small
    const read = await readAt(wish, numbers, enlarge)
    readings.push(...(enlarge ? await surerOf(read, wish, numbers) : read))
  }
  return readings
}

interface OcrTask {
  readonly image: Image
  readonly languages: readonly string[] | null
  readonly signal: AbortSignal
}

const readAt = async ({ image, languages, signal }: OcrTask, pages: readonly number[], enlarge: boolean) => {
  const pictures: Uint8Array[] = []
  for (const page of pages) pictures.push(await legible(image, page, enlarge, signal))
  return pictures.length === 0 ? [] : readPictures(pictures, signal, languages)
}

/** Enlarging helps small letters and spoils noise: an uncertain page is read again at its own size. */
const surerOf = async (read: readonly Reading[], wish: OcrTask, pages: readonly number[]) => {
  const unsure = pages.filter((_, at) => read[at]!.confidence < clear)
  const plain = await readAt(wish, unsure, false)
  return read.map((reading, at) => {
    const other = plain[unsure.indexOf(pages[at]!)]
    if (other === undefined || other.confidence <= reading.confidence) return reading
    return { ...(reading.missing && { missing: reading.missing }), ...other }
  })
}

/** Telling the script takes as long as one language, and a script has few languages. */
const languagesByScript = 3

/** The words in bounded PGM, PNG or JPEG pictures, with one start of the engine. */
export const readPictures = (
  images: readonly Uint8Array[],
  signal: AbortSignal,
  languages: readonly string[] | null = null,
): Promise<readonly Reading[]> => {
  const asked: OcrJob = { images, languages }
  const time = 30_000 * (1 + images.length) * (languages?.length ?? languagesByScript)
  return runApart<readonly Reading[]>('shared/pictures/ocr-job', asked, signal, { time })
}

/** The languages in which pages were read, and those whose data would read them better. */
export const languagesOf = (
  asked: readonly string[] | null,
  readings: readonly (Partial<Pick<Reading, 'language' | 'missing'>> | null)[],
): { readonly languages: readonly string[]; readonly missing?: readonly MissingLanguage[] } => {
  const languages = asked ?? [...new Set([...usualLanguages, ...readings.flatMap((it) => it?.language ?? [])])]
  const missing = new Map(readings.flatMap((it) => (it?.missing ? [[it.missing.script, it.missing] as const] : [])))
  return { languages, ...(missing.size > 0 && { missing: [...missing.values()] }) }
}

const legible = async (image: Image, page: number, enlarge: boolean, signal: AbortSignal): Promise<Uint8Array> => {
  try {
    return pgm(await drawImage(image, { colours: 'grey', longest: longestPixels, enlarge, page }, signal))
  } catch (error) {
    const plain = image.format === 'png' || image.format === 'jpeg'
    if (!(error instanceof Unconfigured && plain && image.width * image.height <= longestPixels * longestPixels))
      throw error
    // The engine itself decodes these formats.
    return image.bytes
  }
}

const pgm = ({ width, height, bytes }: Pixels): Uint8Array =>
  Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), bytes])
