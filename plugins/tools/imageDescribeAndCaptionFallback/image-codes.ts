import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import type { Image } from '../../shared/pictures/image.ts'
import { drawImage, type Pixels } from '../../shared/pictures/raster-image.ts'
import { runApart } from '../../shared/run-apart.ts'
import type { Code } from './codes-job.ts'
import { boxOn } from './image-objects.ts'

export type { Code } from './codes-job.ts'

/** In pixels: larger pictures are reduced, smaller ones are doubled. */
const longest = 2000
const small = 600

/** Reads the codes in a grey picture. */
export type ReadCodes = (pixels: Pixels, signal: AbortSignal) => Promise<readonly Code[]>

const readApart: ReadCodes = (pixels, signal) =>
  runApart<readonly Code[]>('tools/imageDescribeAndCaptionFallback/codes-job', pixels, signal)

/** The QR codes and barcodes on the first page of an image; null where their engine is missing or fails. */
export const findCodes = async (
  image: Image,
  signal: AbortSignal,
  read = readApart,
): Promise<readonly Code[] | null> => {
  const enlarge = Math.max(image.width, image.height) < small
  const pixels = await drawImage(image, { colours: 'grey', longest, enlarge }, signal)
  try {
    const found = await read(pixels, signal)
    return found.map((code) => ({ ...code, box: boxOn(image, pixels, code.box) }))
  } catch (error) {
    if (error instanceof Unconfigured || error instanceof Unreadable) return null
    throw error
  }
}
