import { Unreadable } from '../../../core/errors.ts'
import { decodeAudio, probeAudio, rate } from './audio.ts'
import { wavOf } from '../../shared/sounds/wav.ts'

export interface Piece {
  /** Seconds from the beginning of the whole, and its own. */
  readonly start: number
  readonly seconds: number
  readonly audio: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array }
}

/** Changes as the pieces are read. */
export interface Cut {
  seconds: number
  /** The sound went on behind the last piece. */
  truncated: boolean
  pieces(signal: AbortSignal): AsyncGenerator<Piece, void>
}

/** What transcription models take at once: bytes of a file, and seconds of it. */
const most = { bytes: 25 * 1024 * 1024, seconds: 20 * 60 }

/** Between these two, in seconds, a piece ends where it is quietest for so long. */
const shortest = 9 * 60
const longest = 11 * 60
const pause = 0.4

/** Shorter than this there is nothing to hear, in seconds. */
const least = 0.1

/** Formats that every model takes, by the names that they are known under. The user's own name of the file stays here. */
const known: Readonly<Record<string, { readonly name: string; readonly mime: string }>> = {
  mp3: { name: 'audio.mp3', mime: 'audio/mpeg' },
  ogg: { name: 'audio.ogg', mime: 'audio/ogg' },
  flac: { name: 'audio.flac', mime: 'audio/flac' },
  wav: { name: 'audio.wav', mime: 'audio/wav' },
  mov: { name: 'audio.m4a', mime: 'audio/mp4' },
}

/** A sound file as transcription models take it: as it is, or as one or more WAV files of about ten minutes. Reading throws what `probeAudio` throws. */
export const cutAudio = (bytes: Uint8Array): Cut => {
  const cut = { seconds: 0, truncated: false, pieces }
  return cut

  async function* pieces(signal: AbortSignal): AsyncGenerator<Piece, void> {
    const { format, seconds } = await probeAudio(bytes, signal)
    const as = known[format]
    if (as && seconds !== null && seconds <= most.seconds && bytes.length <= most.bytes) {
      cut.seconds = seconds
      yield { start: 0, seconds, audio: { ...as, bytes } }
      return
    }
    const decoded = decodeAudio(bytes)
    for await (const { start, samples } of atPauses(decoded.blocks(signal))) {
      yield { start, seconds: samples.length / rate, audio: { ...known['wav']!, bytes: packed(samples) } }
    }
    if (decoded.seconds < least) throw new Unreadable()
    cut.seconds = decoded.seconds
    cut.truncated = decoded.truncated
  }
}

interface Stretch {
  readonly start: number
  readonly samples: Float32Array
}

async function* atPauses(blocks: AsyncIterable<Float32Array>): AsyncGenerator<Stretch, void> {
  const held = new Float32Array(longest * rate)
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
      start += end / rate
    }
  }
  if (filled >= least * rate) yield { start, samples: held.subarray(0, filled) }
}

/** The middle of the quietest stretch as long as a pause. */
const quietest = (samples: Float32Array): number => {
  const hop = rate / 100
  const from = shortest * rate
  const loudness = Array.from({ length: Math.floor((samples.length - from) / hop) }, (_, index) => {
    let sum = 0
    for (let at = from + index * hop, end = at + hop; at < end; at++) sum += (samples[at] ?? 0) ** 2
    return sum
  })
  const width = Math.round(pause * 100)
  let sum = 0
  let least = Infinity
  let best = width
  for (const [index, its] of loudness.entries()) {
    sum += its - (loudness[index - width] ?? 0)
    if (index < width - 1 || sum >= least) continue
    least = sum
    best = index + 1
  }
  return from + Math.round((best - width / 2) * hop)
}

/** 16 bits a sample. */
const packed = (samples: Float32Array): Uint8Array => {
  const whole = new Int16Array(samples.length)
  for (let at = 0; at < whole.length; at++) whole[at] = Math.max(-1, Math.min(1, samples[at] ?? 0)) * 32_767
  return wavOf({ rate, channels: 1, bits: 16, samples: new Uint8Array(whole.buffer) })
}
