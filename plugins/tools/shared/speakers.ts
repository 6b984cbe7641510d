import { runApart } from '../../shared/run-apart.ts'
import { inPairs } from './audio-pairs.ts'
import { decodeAudio, sampleRate } from './audio.ts'
import type { Voice, Window } from './voice-job.ts'
import type { GuessedTurns } from './speakers-job.ts'
import type { Turn } from './speakers-turns.ts'

/** Who speaks when, by voices alone. */
export interface Speakers {
  /** In seconds of processed sound. */
  readonly duration: number
  /** True when the sound continues after the processed part. */
  readonly truncated: boolean
  readonly turns: readonly Turn[]
  readonly guess: Guess
}

/** Told with every result that rests on voices. */
export interface Guess {
  readonly by: 'pitch and timbre'
  /** How sure the number of speakers is, from 0.5 to 1; null where nobody speaks. */
  readonly confidence: number | null
}

/** In samples: the length of a window, and of the sound before it that prepares the detector. */
const window = 300 * sampleRate
const lead = 32 * 512

/** In ms: the time for a window, and for separating the voices of all windows. */
const time = { voice: 180_000, speakers: 180_000 }

/**
 * Guesses the speakers of an audio or video file on this machine. Throws the errors of the reading, and Unconfigured when
 * the engine is not installed.
 */
export const tellSpeakers = async (bytes: Uint8Array, signal: AbortSignal): Promise<Speakers> => {
  const decoded = decodeAudio(bytes)
  const heard = await inPairs(
    (signal) => windowsOf(decoded.blocks(signal)),
    (window, signal) => runApart<Voice>('tools/shared/voice-job', window, signal, { time: time.voice }),
    signal,
  )
  const whole: Voice = {
    speech: concatenated(heard.map(({ speech }) => speech)),
    frames: concatenated(heard.map(({ frames }) => frames)),
  }
  const { turns, confidence } = await runApart<GuessedTurns>('tools/shared/speakers-job', whole, signal, {
    time: time.speakers,
  })
  return {
    duration: hundredths(decoded.seconds),
    truncated: decoded.truncated,
    turns: turns.map((turn) => ({ ...turn, start: hundredths(turn.start), end: hundredths(turn.end) })),
    guess: { by: 'pitch and timbre', confidence: confidence === null ? null : hundredths(confidence) },
  }
}

const hundredths = (number: number): number => Math.round(number * 100) / 100

/** Each window brings the end of the one before, so that the detector has heard what led to it. */
async function* windowsOf(blocks: AsyncIterable<Float32Array>): AsyncGenerator<Window, void> {
  // A window has whole steps of the detector, so that it begins at the end of the previous one.
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
