import { Unreadable } from '../../../core/errors.ts'
import { imageHeadOf, type ImageFormat } from '../image-heads.ts'

/** An image whose header is known and whose pixels are still packed. */
export interface Image {
  readonly bytes: Uint8Array
  readonly format: ImageFormat
  /** The displayed size, after the turn. */
  readonly width: number
  readonly height: number
  /** The stored orientation in Exif's numbers: 1 is upright; from 5 on, width and height are swapped. */
  readonly orientation: number
  /** The number of pictures in the file; 1 except for TIFF. */
  readonly pages: number
}

const mostPixels = 40_000_000

/**
 * The header of an image. Throws Unreadable before anything is unpacked, when the bytes are no image or exceed 40
 * megapixels.
 */
export const openImage = (bytes: Uint8Array): Image => {
  const head = imageHeadOf(bytes)
  if (head === null || !(head.width > 0 && head.height > 0)) throw new Unreadable()
  if (head.width * head.height > mostPixels) throw new Unreadable()
  const { format, orientation, pages } = head
  const [width, height] = orientation < 5 ? [head.width, head.height] : [head.height, head.width]
  return { bytes, format, width, height, orientation, pages }
}
