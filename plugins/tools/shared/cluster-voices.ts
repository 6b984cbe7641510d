import { atMost, bellOf, likelihoodBy, sumsOf, together, type Bell, type Sums } from './speakers-gaussian.ts'

/** One voice, as far as it is known. */
export interface Group {
  readonly sums: Sums
  readonly bell: Bell
}

/** The most evidence that two groups of one voice give against each other, by the frames of both. */
export type Tolerance = (frames: number) => number

/** Frames of a group that count as evidence, some twenty seconds of vowels: a voice wanders, and more would tell it from itself. */
const telling = 1_250

/** The Bayesian information criterion: for groups of a second or two, whose words differ as much as their voices. */
export const byInformation = (numbers: number): Tolerance => {
  const parameters = numbers + (numbers * (numbers + 1)) / 2
  return (frames) => 1.4 * (parameters / 2) * Math.log(frames)
}

/** So much at once and so much a frame: for groups that are large enough to have said everything. */
export const byDistance: Tolerance = (frames) => 180 + 0.65 * frames

export const groupOf = (frames: readonly Float32Array[], usual: Float64Array): Group =>
  grouped(sumsOf(frames, Math.sqrt(usual.length)), usual)

const grouped = (sums: Sums, usual: Float64Array): Group => ({ sums, bell: bellOf(sums, usual) })

/** Joins the two groups that are most alike, again and again, until those that are left are apart and no more than `most`. */
export const joined = (
  groups: readonly Group[],
  usual: Float64Array,
  most: number,
  tolerance: Tolerance,
): readonly Group[] => {
  const left = [...groups]
  const between = left.map((one, row) => left.slice(0, row).map((other) => strangeness(one, other, usual, tolerance)))
  while (left.length > 1) {
    const { row, column, least } = nearest(between)
    if (least > 0 && left.length <= most) break
    const [one, other] = [left[row], left[column]]
    if (!one || !other) break
    const both = grouped(together(one.sums, other.sums), usual)
    left[column] = both
    left.splice(row, 1)
    between.splice(row, 1)
    for (const its of between) if (its.length > row) its.splice(row, 1)
    for (const [at, third] of left.entries()) {
      const its = between[Math.max(at, column)]
      if (at !== column && its) its[Math.min(at, column)] = strangeness(third, both, usual, tolerance)
    }
  }
  return left
}

/** The evidence against one voice beyond what is tolerated: how much better two bells fit than one. */
const strangeness = (one: Group, other: Group, usual: Float64Array, tolerance: Tolerance): number => {
  const its = atMost(one.sums, telling)
  const others = atMost(other.sums, telling)
  const both = together(its, others)
  const apart = its.count * one.bell.logDeterminant + others.count * other.bell.logDeterminant
  return (both.count * bellOf(both, usual).logDeterminant - apart) / 2 - tolerance(both.count)
}

const nearest = (between: readonly (readonly number[])[]) => {
  let found = { row: 1, column: 0, least: Infinity }
  for (const [row, others] of between.entries()) {
    for (const [column, its] of others.entries()) if (its < found.least) found = { row, column, least: its }
  }
  return found
}

/** Evidence that it costs to go over to another voice, and half of that behind a pause; and how much of a frame's evidence counts. */
const change = 30
const weight = 0.3
/** A single frame says no more than this against a voice. */
const doubt = -60

/** The voice of each frame, by the way through all of them that explains them best. A frame is null where nothing is voiced. */
export const followed = (
  voices: readonly Bell[],
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
  numbers.reduce((best, it, index) => (it > (numbers[best] ?? -Infinity) ? index : best), 0)
