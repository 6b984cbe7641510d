import { Unreadable } from '../../../core/errors.ts'
import { imageHeadOf, type ImageHead } from '../image-heads.ts'

/** An image whose pixels are still packed. Width and height are those that are shown, after the turn. */
export interface Image extends ImageHead {
  readonly bytes: Uint8Array
}

const mostPixels = 40_000_000

/**
 * The header of an image. Throws Unreadable before anything is unpacked, when the bytes are no image or exceed 40
 * megapixels.
 */
export const openImage = (bytes: Uint8Array): Image => {
  const head = imageHeadOf(bytes)
  if (head?.format === 'other')
    throw new Unreadable({ validator: { format: 'Expected a PNG, JPEG, WebP, GIF, BMP or TIFF' } })
  if (head === null || !(head.width > 0 && head.height > 0)) throw new Unreadable()
  if (head.width * head.height > mostPixels) throw new Unreadable()
  return { ...head, bytes, ...(head.orientation >= 5 && { width: head.height, height: head.width }) }
}
