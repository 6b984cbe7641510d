import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { Unreadable } from '../../../core/errors.ts'
import { decodeAudio, probeAudio, sampleRate } from './audio.ts'
import { wavOf } from '../../shared/sounds/wav.ts'

/** A stretch of a sound that one call of a model takes. */
export interface Piece {
  /** In seconds: the start within the whole sound, and the length of the piece. */
  readonly start: number
  readonly seconds: number
  readonly audio: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array }
}

/** The fields change while the pieces are read. */
export interface Cut {
  seconds: number
  /** True when the sound continues after the last piece. */
  truncated: boolean
  pieces(signal: AbortSignal): AsyncGenerator<Piece, void>
}

/** The limits of transcription models: bytes of a file, and its seconds. */
const pieceLimits = { bytes: 25 * 1024 * 1024, seconds: 20 * 60 }

/** In seconds: a piece ends between these two times, at the quietest pause of this length. */
const shortest = 9 * 60
const longestPieceSeconds = 11 * 60
const pauseSeconds = 0.4

/** In seconds: a shorter sound has nothing to hear. */
const leastSeconds = 0.1

/** Formats that every model takes, with their usual names. The user's own file name is not sent. */
const known: Readonly<Record<string, { readonly name: string; readonly mime: string }>> = {
  mp3: { name: 'audio.mp3', mime: 'audio/mpeg' },
  ogg: { name: 'audio.ogg', mime: 'audio/ogg' },
  flac: { name: 'audio.flac', mime: 'audio/flac' },
  wav: { name: 'audio.wav', mime: 'audio/wav' },
  mov: { name: 'audio.m4a', mime: 'audio/mp4' },
}

/**
 * Cuts a sound file for transcription models: unchanged, or as WAV files of about ten minutes. Reading throws the
 * errors of `probeAudio`.
 */
export const cutAudio = (bytes: Uint8Array): Cut => {
  const cut = { seconds: 0, truncated: false, pieces }
  return cut

  async function* pieces(signal: AbortSignal): AsyncGenerator<Piece, void> {
    const { format, seconds } = await probeAudio(bytes, signal)
    const as = known[format]
    if (as && seconds !== null && seconds <= pieceLimits.seconds && bytes.length <= pieceLimits.bytes) {
      cut.seconds = seconds
      yield { start: 0, seconds, audio: { ...as, bytes } }
      return
    }
    const decoded = decodeAudio(bytes)
    for await (const { start, samples } of atPauses(decoded.blocks(signal))) {
      yield { start, seconds: samples.length / sampleRate, audio: { ...known['wav']!, bytes: await packed(samples) } }
    }
    if (decoded.seconds < leastSeconds) throw new Unreadable()
    cut.seconds = decoded.seconds
    cut.truncated = decoded.truncated
  }
}

/** Mono samples at 16 kHz; `start` is in seconds of the whole sound. */
interface Stretch {
  readonly start: number
  readonly samples: Float32Array
}

/** Yields views of one array that the next stretch overwrites: the caller packs each before it goes on. */
async function* atPauses(blocks: AsyncIterable<Float32Array>): AsyncGenerator<Stretch, void> {
  const held = new Float32Array(longestPieceSeconds * sampleRate)
  let filled = 0
  let start = 0
  for await (const block of blocks) {
    for (let taken = 0; taken < block.length;) {
      const some = block.subarray(taken, taken + held.length - filled)
      held.set(some, filled)
      filled += some.length
      taken += some.length
      if (filled < held.length) continue
      const end = quietest(held)
      yield { start, samples: held.subarray(0, end) }
      held.copyWithin(0, end)
      filled -= end
      start += end / sampleRate
    }
  }
  if (filled >= leastSeconds * sampleRate) yield { start, samples: held.subarray(0, filled) }
}

/** The middle of the quietest stretch with the length of a pause. */
const quietest = (samples: Float32Array): number => {
  const hop = sampleRate / 100
  const from = shortest * sampleRate
  const loudness = Array.from({ length: Math.floor((samples.length - from) / hop) }, (_, index) => {
    let sum = 0
    for (let at = from + index * hop, end = at + hop; at < end; at++) sum += (samples[at] ?? 0) ** 2
    return sum
  })
  const width = Math.round(pauseSeconds * 100)
  let sum = 0
  let least = Infinity
  let best = width
  for (const [index, level] of loudness.entries()) {
    sum += level - (loudness[index - width] ?? 0)
    if (index < width - 1 || sum >= least) continue
    least = sum
    best = index + 1
  }
  return from + Math.round((best - width / 2) * hop)
}

/** Samples that one turn of the loop packs. */
const atOnce = 1_000_000

/** Packs samples with 16 bits each. */
const packed = async (samples: Float32Array): Promise<Uint8Array> => {
  const whole = new Int16Array(samples.length)
  for (let at = 0; at < whole.length; at++) {
    if (at % atOnce === atOnce - 1) await freeTurn()
    whole[at] = Math.max(-1, Math.min(1, samples[at] ?? 0)) * 32_767
  }
  return wavOf({ rate: sampleRate, channels: 1, bits: 16, samples: new Uint8Array(whole.buffer) })
}
