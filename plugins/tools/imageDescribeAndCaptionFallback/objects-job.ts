import type { Pixels } from '../../shared/pictures/raster-image.ts'
import { type Face, facesIn } from './faces.ts'
import { type Box, withoutOverlaps } from './image-boxes.ts'
import { labels } from './image-labels.ts'
import { type Frame, loadModel, outputsOf, startTensors } from './tensors.ts'

export interface Found {
  readonly label: string
  /** From 0 to 1. */
  readonly score: number
  /** In pixels of the input. */
  readonly box: Box
}

/** Both lists begin with the most certain one. */
export interface Things {
  readonly objects: readonly Found[]
  readonly faces: readonly Face[]
}

/** In pixels: the side of the square in which objects and faces are searched. */
const side = 512

/** The name of the output within the model's graph. */
const output = 'tower_0/detections'

/** Finds objects and faces in a colour picture of at most 512 pixels per side. */
export default async (pixels: Pixels): Promise<Things> => {
  const tf = await startTensors()
  const [objects, faces] = [await loadModel(tf, 'centernet'), await loadModel(tf, 'blazeface')]
  const frame = framed(pixels)
  const [values = new Float32Array(0)] = await outputsOf(tf, objects, frame, [output])
  const { left, top } = margins(pixels.width, pixels.height)
  const within = ({ x, y, width, height }: Box): Box =>
    boxIn(pixels, x - left, y - top, x - left + width, y - top + height)
  return {
    objects: objectsIn(values, pixels),
    faces: (await facesIn(tf, faces, frame))
      .map(({ score, box }) => ({ score, box: within(box) }))
      .filter(({ box }) => box.width > 0 && box.height > 0),
  }
}

/** Puts the picture in the middle of the square, so that nothing is stretched. */
const framed = ({ width, height, bytes }: Pixels): Frame => {
  const values = new Float32Array(side * side * 3)
  const { left, top } = margins(width, height)
  for (let row = 0; row < height; row++)
    values.set(bytes.subarray(row * width * 3, (row + 1) * width * 3), ((top + row) * side + left) * 3)
  return { side, values }
}

/** Pixels on the left and at the top of a picture in the middle of the square. */
const margins = (width: number, height: number) => ({
  left: Math.floor((side - width) / 2),
  top: Math.floor((side - height) / 2),
})

/** Corners outside of the picture are moved to its edge. */
const boxIn = ({ width, height }: Pixels, x1: number, y1: number, x2: number, y2: number): Box => {
  const within = (value: number, most: number) => Math.min(most, Math.max(0, value))
  const [x, y] = [within(x1, width), within(y1, height)]
  return { x, y, width: within(x2, width) - x, height: within(y2, height) - y }
}

/** The model returns six numbers per object: both corners, the score and the label. */
const objectsIn = (values: Float32Array, pixels: Pixels): readonly Found[] => {
  const { left, top } = margins(pixels.width, pixels.height)
  const found = Array.from({ length: Math.floor(values.length / 6) }, (_, at): Found => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, label = -1] = values.subarray(at * 6, at * 6 + 6)
    return { label: labels[label] ?? '', score, box: boxIn(pixels, x1 - left, y1 - top, x2 - left, y2 - top) }
  })
  return withoutOverlaps(found.filter(({ label, box }) => label !== '' && box.width > 0 && box.height > 0))
}
