import { type Box, isSameThing } from './image-boxes.ts'
import { type Frame, type Model, outputsOf, type Tensors } from './tensors.ts'

/** A face in pixels of the picture that was searched. No face is recognised as a person's. */
export interface Face {
  /** From 0 to 1. */
  readonly score: number
  readonly box: Box
}

/** In pixels: the side of the model's square input. */
const side = 256

/** A detector with a lower score sees faces in stones. */
const leastScore = 0.75

/** In pixels: how far apart the parts begin in which small faces are searched. */
const stride = 128

/**
 * The faces in a square picture, most certain first, with boxes in its pixels. Large faces are found in the whole
 * picture, small ones in its parts.
 */
export const facesIn = async (tf: Tensors, model: Model, frame: Frame): Promise<readonly Face[]> => {
  const places = Array.from({ length: (frame.side - side) / stride + 1 }, (_, at) => at * stride)
  const parts = places.flatMap((y) => places.map((x) => ({ x, y, scale: 1, part: cutOut(frame, x, y) })))
  const views = [{ x: 0, y: 0, scale: frame.side / side, part: reduced(frame) }, ...parts]
  const found: Face[] = []
  for (const { x, y, scale, part } of views)
    for (const { score, box } of await detected(tf, model, part))
      found.push({
        score,
        box: { x: x + scale * box.x, y: y + scale * box.y, width: scale * box.width, height: scale * box.height },
      })
  const kept: Face[] = []
  for (const face of found.sort((one, other) => other.score - one.score))
    if (!kept.some(({ box }) => isSameThing(box, face.box))) kept.push(face)
  return kept
}

/** The model's outputs, finer grid first: the logits, and four numbers for a box before those of eyes, mouth and ears. */
const outputs = ['Identity', 'Identity_2', 'Identity_1', 'Identity_3'] as const
const numbersPerFace = 16

/** The places that the model judges: points of a grid, some of them several times. */
const gridOf = (step: number, times: number): readonly (readonly [x: number, y: number])[] =>
  Array.from({ length: (side / step) ** 2 * times }, (_, at) => {
    const point = Math.floor(at / times)
    const perRow = side / step
    return [step * ((point % perRow) + 0.5), step * (Math.floor(point / perRow) + 0.5)] as const
  })

const grids = [gridOf(16, 2), gridOf(32, 6)] as const

/** Boxes are in pixels of the part. The logistic function turns logits into scores. */
const detected = async (tf: Tensors, model: Model, part: Frame): Promise<readonly Face[]> => {
  const values = part.values.map((value) => value / 127.5 - 1)
  const [fine, fineBoxes, coarse, coarseBoxes] = await outputsOf(tf, model, { side, values }, outputs)
  const both = [
    [grids[0], fine, fineBoxes],
    [grids[1], coarse, coarseBoxes],
  ] as const
  return both.flatMap(([grid, logits, boxes]) =>
    grid.flatMap(([x, y], at): readonly Face[] => {
      const score = 1 / (1 + Math.exp(-(logits?.[at] ?? -Infinity)))
      if (score < leastScore) return []
      const [right = 0, down = 0, width = 0, height = 0] = boxes?.subarray(at * numbersPerFace) ?? []
      return [{ score, box: { x: x + right - width / 2, y: y + down - height / 2, width, height } }]
    }),
  )
}

/** A square of the model's size; the caller keeps it within the picture. */
const cutOut = (frame: Frame, x: number, y: number): Frame => {
  const values = new Float32Array(side * side * 3)
  for (let row = 0; row < side; row++) {
    const from = ((y + row) * frame.side + x) * 3
    values.set(frame.values.subarray(from, from + side * 3), row * side * 3)
  }
  return { side, values }
}

/** The picture at the model's size: each point is the mean of a square. */
const reduced = (frame: Frame): Frame => {
  const by = frame.side / side
  const values = new Float32Array(side * side * 3)
  for (let y = 0; y < frame.side; y++)
    for (let x = 0; x < frame.side; x++)
      for (let colour = 0; colour < 3; colour++) {
        const to = (Math.floor(y / by) * side + Math.floor(x / by)) * 3 + colour
        values[to] = (values[to] ?? 0) + (frame.values[(y * frame.side + x) * 3 + colour] ?? 0) / (by * by)
      }
  return { side, values }
}
