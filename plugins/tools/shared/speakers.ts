import { apart } from '../../shared/run-apart.ts'
import { inPairs } from './audio-pairs.ts'
import { decodeAudio, rate } from './audio.ts'
import type { Voice, Window } from './voice-job.ts'
import type { Turn } from './speakers-turns.ts'

export interface Speakers {
  /** Seconds that were heard. */
  readonly duration: number
  /** The sound goes on, but nobody listened. */
  readonly truncated: boolean
  readonly turns: readonly Turn[]
}

/** Samples that are listened to at once, and of those before them that the detector gets used to the sound with. */
const window = 300 * rate
const lead = 32 * 512

/** Ms for a window, and for telling apart the voices of all of them. */
const time = { voice: 180_000, speakers: 180_000 }

/** Who speaks when in an audio or video file, told on this machine. Throws what reading throws, and Unconfigured when the engine is not installed. */
export const tellSpeakers = async (bytes: Uint8Array, signal: AbortSignal): Promise<Speakers> => {
  const decoded = decodeAudio(bytes)
  const heard = await inPairs(
    (signal) => windowsOf(decoded.blocks(signal)),
    (it, signal) => apart<Voice>('tools/shared/voice-job', it, signal, { time: time.voice }),
    signal,
  )
  const whole: Voice = {
    speech: concatenated(heard.map(({ speech }) => speech)),
    frames: concatenated(heard.map(({ frames }) => frames)),
  }
  const turns = await apart<readonly Turn[]>('tools/shared/speakers-job', whole, signal, { time: time.speakers })
  return {
    duration: hundredths(decoded.seconds),
    truncated: decoded.truncated,
    turns: turns.map((it) => ({ ...it, start: hundredths(it.start), end: hundredths(it.end) })),
  }
}

const hundredths = (seconds: number): number => Math.round(seconds * 100) / 100

async function* windowsOf(blocks: AsyncIterable<Float32Array>): AsyncGenerator<Window, void> {
  // Whole steps of the detector, so that each window begins where the one before has ended.
  const samples = new Float32Array(lead + window)
  let filled = lead
  let led = 0
  for await (const block of blocks) {
    for (let taken = 0; taken < block.length;) {
      const some = block.subarray(taken, taken + samples.length - filled)
      samples.set(some, filled)
      filled += some.length
      taken += some.length
      if (filled < samples.length) continue
      yield { samples: samples.slice(lead - led), lead: led }
      samples.copyWithin(0, samples.length - lead)
      filled = lead
      led = lead
    }
  }
  if (filled > lead || led === 0) yield { samples: samples.slice(lead - led, filled), lead: led }
}

const concatenated = (parts: readonly Float32Array[]): Float32Array => {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
