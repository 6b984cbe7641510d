import { decodeAudio, sampleRate } from '../../../../plugins/tools/shared/audio.ts'
import { wavOf } from '../../../../plugins/shared/sounds/wav.ts'

/** One person’s recordings, each as samples. */
export interface Speaker {
  readonly name: string
  readonly recordings: readonly Float32Array[]
}

/** Who speaks, and from when to when in seconds. */
export interface Said {
  readonly speaker: string
  readonly start: number
  readonly end: number
}

export interface Mix {
  readonly wav: Uint8Array
  readonly said: readonly Said[]
}

/** In seconds: the sound of a turn, and the pauses between turns, which take turns themselves. */
const turn = 4
const pauses = [0.4, 0.7, 0.55]

/** Each turn has this root of its mean square, so that loudness tells no speakers apart. */
const loudness = 0.08

export const samplesOf = async (bytes: Uint8Array): Promise<Float32Array> => {
  const blocks: Float32Array[] = []
  for await (const block of decodeAudio(bytes).blocks(AbortSignal.timeout(60_000))) blocks.push(block)
  return joinedSamples(blocks)
}

/** The speakers take turns, so many for each of them; a turn joins recordings up to its length. */
export const mixOf = (speakers: readonly Speaker[], turnsOfEach: number): Mix => {
  const parts: Float32Array[] = []
  const lines: Said[] = []
  const next = speakers.map(() => 0)
  let length = 0
  const add = (samples: Float32Array) => {
    parts.push(samples)
    length += samples.length
  }
  for (let at = 0; at < turnsOfEach * speakers.length; at++) {
    const who = at % speakers.length
    const { name, recordings } = speakers[who]!
    const own: Float32Array[] = []
    for (let had = 0; had < turn * sampleRate; had += own.at(-1)!.length)
      own.push(recordings[next[who]!++ % recordings.length]!)
    const start = length / sampleRate
    add(levelled(joinedSamples(own)))
    lines.push({ speaker: name, start, end: length / sampleRate })
    add(new Float32Array(pauses[at % pauses.length]! * sampleRate))
  }
  return { wav: wavOf({ rate: sampleRate, channels: 1, bits: 16, samples: whole(joinedSamples(parts)) }), said: lines }
}

const levelled = (samples: Float32Array): Float32Array => {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
  const factor = loudness / Math.sqrt(power || 1)
  return samples.map((sample) => Math.max(-1, Math.min(1, sample * factor)))
}

const joinedSamples = (parts: readonly Float32Array[]): Float32Array => {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const whole = (samples: Float32Array): Uint8Array => {
  const bytes = Buffer.alloc(2 * samples.length)
  for (const [at, sample] of samples.entries()) bytes.writeInt16LE(Math.round(sample * 32_767), 2 * at)
  return bytes
}
