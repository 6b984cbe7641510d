import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import { apart } from '../run-apart.ts'
import { openImage, type Image } from './image.ts'
import type { Reading } from './ocr-job.ts'
import { drawImage, type Pixels } from './raster-image.ts'

export type { Line, Reading } from './ocr-job.ts'

/** Pixels of the longer side: where a picture is drawn smaller, and where twice as large. */
const longest = 3400
const small = 1500

/** Pages that are read with one start of the engine. */
const together = 4

/** The words in an image, of its first page where it has several. Throws Unreadable, or Unconfigured where the engine or a decoder is missing. */
export const readImage = async (bytes: Uint8Array, signal: AbortSignal): Promise<Reading> => {
  const [reading] = await readImagePages(openImage(bytes), signal, 1)
  if (reading === undefined) throw new Unreadable()
  return reading
}

/** The words in the first pages of an image. */
export const readImagePages = async (image: Image, signal: AbortSignal, most: number): Promise<readonly Reading[]> => {
  const readings: Reading[] = []
  const pages = Math.min(image.pages, most)
  while (readings.length < pages) {
    const pictures: Uint8Array[] = []
    while (pictures.length < together && readings.length + pictures.length < pages)
      pictures.push(await legible(image, readings.length + pictures.length + 1, signal))
    readings.push(...(await readPictures(pictures, signal)))
  }
  return readings
}

/** The words in pictures of a bounded size, in PGM, PNG or JPEG, with one start of the engine. */
export const readPictures = (pictures: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Reading[]> =>
  apart<readonly Reading[]>('shared/pictures/ocr-job', pictures, signal, { time: 30_000 * (1 + pictures.length) })

const legible = async (image: Image, page: number, signal: AbortSignal): Promise<Uint8Array> => {
  try {
    const enlarge = Math.max(image.width, image.height) < small
    return pgm(await drawImage(image, { colours: 'grey', longest, enlarge, page }, signal))
  } catch (error) {
    const plain = image.format === 'png' || image.format === 'jpeg'
    if (!(error instanceof Unconfigured && plain && image.width * image.height <= longest * longest)) throw error
    // The engine has decoders of its own for these.
    return image.bytes
  }
}

const pgm = ({ width, height, bytes }: Pixels): Uint8Array =>
  Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), bytes])
