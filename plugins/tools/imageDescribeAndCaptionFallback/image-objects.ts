import { runApart } from '../../shared/run-apart.ts'
import type { Image } from '../../shared/pictures/image.ts'
import type { Found } from './objects-job.ts'
import type { Pixels } from '../../shared/pictures/raster-image.ts'

export type { Found } from './objects-job.ts'

/** In pixels: the side of the picture in which objects and facts are searched. */
export const searchPixels = 512

/**
 * The objects that a detector finds among eighty classes, most certain first. Boxes are in pixels of the upright image.
 */
export const findObjects = async (image: Image, pixels: Pixels, signal: AbortSignal): Promise<readonly Found[]> => {
  const found = await runApart<readonly Found[]>('tools/imageDescribeAndCaptionFallback/objects-job', pixels, signal)
  const across = image.width / pixels.width
  const down = image.height / pixels.height
  return found.map(({ label, score, box }) => ({
    label,
    score: Math.round(score * 100) / 100,
    box: {
      x: Math.round(box.x * across),
      y: Math.round(box.y * down),
      width: Math.round(box.width * across),
      height: Math.round(box.height * down),
    },
  }))
}
