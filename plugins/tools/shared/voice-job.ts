import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { optionalPackage } from '../../shared/optional-package.ts'
import { frameSize, voiceFrames } from './speakers-voice.ts'

/** A stretch of at most five minutes, which bounds the memory of one process. */
export interface Window {
  /** 16 kHz. */
  readonly samples: Float32Array
  /** In samples before the wanted sound; whole frames. */
  readonly lead: number
}

/** What is kept of a window: no samples, but numbers about speech and voice. */
export interface Voice {
  /** The probability of speech for each 32 ms. */
  readonly speech: Float32Array
  /** The result of `voiceFrames`: two frames for each probability. */
  readonly frames: Float32Array
}

/** In samples: the step of the detector, and the overlap with the previous step. */
const step = 2 * frameSize
const before = 64

/** Finds speech, and the sound of the voice in it. */
export default async ({ samples, lead }: Window): Promise<Voice> => {
  const speech = (await chances(samples)).slice(lead / step)
  return { speech, frames: voiceFrames(samples.subarray(lead), (frame) => (speech[frame >> 1] ?? 0) > 0.1) }
}

/** Steps follow each other, since the detector remembers what it has heard. */
const chances = async (samples: Float32Array): Promise<Float32Array> => {
  // The code of the first compiler is as fast here; the second compiler takes as much CPU as a minute and a half of sound.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
  const { env, InferenceSession, Tensor } = await optionalPackage('onnxruntime-web', () => import('onnxruntime-web'))
  // The engine stands beside this file, and a thread has one core: nothing is fetched and no thread is started.
  env.wasm.numThreads = 1
  const { resolve } = createRequire(import.meta.url)
  const model = await optionalPackage('@ricky0123/vad-web', async () =>
    resolve('@ricky0123/vad-web/dist/silero_vad_v6.onnx'),
  )
  const detector = await InferenceSession.create(await readFile(model))
  const sr = new Tensor('int64', new BigInt64Array([16_000n]))
  let state = new Tensor('float32', new Float32Array(256), [2, 1, 128])
  const heard = new Float32Array(Math.ceil(samples.length / step))
  for (let at = 0; at < heard.length; at++) {
    const seen = new Float32Array(before + step)
    const from = at * step - before
    seen.set(samples.subarray(Math.max(0, from), from + seen.length), Math.max(0, -from))
    const told = await detector.run({ input: new Tensor('float32', seen, [1, seen.length]), state, sr })
    state = told['stateN'] as typeof state
    heard[at] = (told['output']?.data as Float32Array | undefined)?.[0] ?? 0
  }
  return heard
}
