import { Unreadable } from '../../../core/errors.ts'
import { headOf, type Format } from '../../../core/inference/media/image-heads.ts'

export interface Image {
  readonly bytes: Uint8Array
  readonly format: Format
  /** As it is shown, after the turn. */
  readonly width: number
  readonly height: number
  /** How it is stored, as Exif counts: 1 is upright, from 5 on sides and ends are swapped. */
  readonly orientation: number
  /** Pictures in the file, one after the other; one but for TIFF. */
  readonly pages: number
}

const mostPixels = 40_000_000

/** The head of an image. Throws Unreadable for bytes that are no image, and for more than 40 megapixels, before anything is unpacked. */
export const openImage = (bytes: Uint8Array): Image => {
  const head = headOf(bytes)
  if (head === null || !(head.width > 0 && head.height > 0)) throw new Unreadable()
  if (head.width * head.height > mostPixels) throw new Unreadable()
  const { format, orientation, pages } = head
  const [width, height] = orientation < 5 ? [head.width, head.height] : [head.height, head.width]
  return { bytes, format, width, height, orientation, pages }
}
