import {
  scaledSums,
  normalOf,
  likelihoodBy,
  sumsOf,
  addedSums,
  type NormalDistribution,
  type FrameSums,
} from './speakers-gaussian.ts'

/** The collected frames of one voice. */
export interface VoiceGroup {
  readonly sums: FrameSums
  readonly distribution: NormalDistribution
}

/** The largest difference between two groups of the same voice, by the number of their frames. */
export type Tolerance = (frames: number) => number

/**
 * The largest number of frames that count as evidence, about twenty seconds of vowels. A voice drifts, so more frames
 * would separate it from itself.
 */
const telling = 1_250

/** The Bayesian information criterion, for groups of one or two seconds: their words differ as much as their voices. */
export const byInformation = (numbers: number): Tolerance => {
  const parameters = numbers + (numbers * (numbers + 1)) / 2
  return (frames) => 1.4 * (parameters / 2) * Math.log(frames)
}

/** A fixed part and a part per frame, for groups that are large enough to cover all sounds. */
export const byDistance: Tolerance = (frames) => 180 + 0.65 * frames

/** `usual` is the covariance that few frames are pulled to; its size tells the numbers of a frame. */
export const groupOf = (frames: readonly Float32Array[], usual: Float64Array): VoiceGroup =>
  grouped(sumsOf(frames, Math.sqrt(usual.length)), usual)

const grouped = (sums: FrameSums, usual: Float64Array): VoiceGroup => ({ sums, distribution: normalOf(sums, usual) })

/** The groups that remain, and how clear their number is. */
export interface JoinedGroups {
  readonly groups: readonly VoiceGroup[]
  /**
   * The evidence against one voice of the two groups that were looked at last, as a share of what is tolerated: above 1
   * for the most similar of the groups that remain, below 1 for the last join. Null where there were no two groups.
   */
  readonly evidence: number | null
}

/** Joins the two most similar groups repeatedly, until the groups are different and at most `most` remain. */
export const joinedGroups = (
  groups: readonly VoiceGroup[],
  usual: Float64Array,
  most: number,
  tolerance: Tolerance,
): JoinedGroups => {
  const left = [...groups]
  let evidence: number | null = null
  const between = left.map((one, row) => left.slice(0, row).map((other) => strangeness(one, other, usual, tolerance)))
  while (left.length > 1) {
    const { row, column, least } = nearest(between)
    const [one, other] = [left[row], left[column]]
    if (!one || !other) break
    evidence = 1 + least / tolerance(evidentFrames(one) + evidentFrames(other))
    if (least > 0 && left.length <= most) break
    const both = grouped(addedSums(one.sums, other.sums), usual)
    left[column] = both
    left.splice(row, 1)
    between.splice(row, 1)
    for (const distances of between) if (distances.length > row) distances.splice(row, 1)
    for (const [at, third] of left.entries()) {
      const row = between[Math.max(at, column)]
      if (at !== column && row) row[Math.min(at, column)] = strangeness(third, both, usual, tolerance)
    }
  }
  return { groups: left, evidence }
}

/** Beyond the bound, further frames are no evidence. */
const evidentFrames = ({ sums }: VoiceGroup): number => Math.min(telling, sums.count)

/** The evidence against a single voice beyond the tolerance: how much better two distributions fit than one. */
const strangeness = (one: VoiceGroup, other: VoiceGroup, usual: Float64Array, tolerance: Tolerance): number => {
  const sums = scaledSums(one.sums, telling)
  const others = scaledSums(other.sums, telling)
  const both = addedSums(sums, others)
  const apart = sums.count * one.distribution.logDeterminant + others.count * other.distribution.logDeterminant
  return (both.count * normalOf(both, usual).logDeterminant - apart) / 2 - tolerance(both.count)
}

/** The pair with the least evidence against one voice. */
const nearest = (between: readonly (readonly number[])[]) => {
  let found = { row: 1, column: 0, least: Infinity }
  for (const [row, others] of between.entries()) {
    for (const [column, distance] of others.entries())
      if (distance < found.least) found = { row, column, least: distance }
  }
  return found
}

/** The cost of a change to another voice, which is half after a pause; and the weight of a frame's evidence. */
const change = 30
const weight = 0.3
/** The strongest evidence of a single frame against a voice. */
const doubt = -60

/** The voice of each frame, by the most likely path through all frames. A frame is null where no voice sounds. */
export const voiceOfFrames = (
  voices: readonly NormalDistribution[],
  frames: readonly { readonly sound: Float32Array | null; readonly first: boolean }[],
): Uint8Array => {
  const chances = voices.map(likelihoodBy)
  const came = new Uint8Array(frames.length * voices.length)
  let scores = voices.map(() => 0)
  for (const [at, { sound, first }] of frames.entries()) {
    const best = indexOfMost(scores)
    const moved = (scores[best] ?? 0) - (first ? change / 2 : change)
    scores = chances.map((chance, index) => {
      const staying = scores[index] ?? 0
      const stays = staying >= moved
      came[at * voices.length + index] = stays ? index : best
      const heard = sound === null ? 0 : weight * Math.max(doubt, chance(sound))
      return (stays ? staying : moved) + heard
    })
  }
  const path = new Uint8Array(frames.length)
  let voice = indexOfMost(scores)
  for (let at = frames.length - 1; at >= 0; at--) {
    path[at] = voice
    voice = came[at * voices.length + voice] ?? 0
  }
  return path
}

const indexOfMost = (numbers: readonly number[]): number =>
  numbers.reduce((best, number, index) => (number > (numbers[best] ?? -Infinity) ? index : best), 0)
