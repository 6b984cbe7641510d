import { runApart } from '../../shared/run-apart.ts'
import type { Image } from '../../shared/pictures/image.ts'
import type { Things } from './objects-job.ts'
import type { Box } from './image-boxes.ts'
import type { Pixels } from '../../shared/pictures/raster-image.ts'

export type { Found, Things } from './objects-job.ts'

/** In pixels: the side of the picture in which objects and facts are searched. */
export const searchPixels = 512

/** In ms: eleven looks at a picture, on a machine that does other work. */
const time = 30_000

/**
 * The objects that a detector finds among eighty classes, and the faces, most certain first. Boxes are in pixels of the
 * upright image.
 */
export const findThings = async (image: Image, pixels: Pixels, signal: AbortSignal): Promise<Things> => {
  const found = await runApart<Things>('tools/imageDescribeAndCaptionFallback/objects-job', pixels, signal, { time })
  const placed = <T extends { readonly score: number; readonly box: Box }>(box: T): T => ({
    ...box,
    score: Math.round(box.score * 100) / 100,
    box: boxOn(image, pixels, box.box),
  })
  return { objects: found.objects.map(placed), faces: found.faces.map(placed) }
}

interface Sized {
  readonly width: number
  readonly height: number
}

/** A box of a drawn picture in pixels of the image. */
export const boxOn = (image: Sized, drawn: Sized, { x, y, width, height }: Box): Box => {
  const across = image.width / drawn.width
  const down = image.height / drawn.height
  return {
    x: Math.round(x * across),
    y: Math.round(y * down),
    width: Math.round(width * across),
    height: Math.round(height * down),
  }
}
