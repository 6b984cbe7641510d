import { chance } from '../bench/retrieval/chance.ts'
import type { Spoiled } from './bodies.ts'
import type { Target } from './targets.ts'

/** One body to be sent. */
export interface Planned {
  readonly target: Target
  readonly spoiled: Spoiled
  /** Bytes, of the JSON inside where it is sealed. */
  readonly size: number
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Sizes, each with how many of those that grow and of the others have it; the limits of a target have the last share. */
const ladder: readonly (readonly [size: number, growing: number, other: number])[] = [
  [kibibyte, 1, 1],
  [16 * kibibyte, 1, 1],
  [256 * kibibyte, 1, 0.1],
  [mebibyte, 0.3, 0.02],
  [4 * mebibyte, 0.1, 0.01],
  [16 * mebibyte, 0.03, 0.01],
]
const top = 0.03
/** The upload takes more than any other route and holds none of it. */
const longest = 80 * mebibyte

export interface Wish {
  readonly seed: number
  /** Bodies at least in a whole plan. */
  readonly least: number
  /** Bodies of a sample, which has a valid body of each target first; null for all. */
  readonly sample: number | null
  /** Bytes of the largest. */
  readonly most: number
}

/** The same bodies for the same seed, target by target, the small ones first. */
export const planned = (targets: readonly Target[], { seed, least, sample, most }: Wish): readonly Planned[] => {
  const { below, shuffled } = chance(seed)
  const chosen = (share: number) => below(1_000_000) < share * 1_000_000
  const stepsOf = ({ limit }: Target) =>
    [
      // Some limits are below the first step, and each body is sent at least once.
      [Math.min(kibibyte, limit), 1, 1] as const,
      ...ladder.slice(1).filter(([size]) => size < limit),
      ...(limit <= longest ? [limit, limit + 1].map((size) => [size, top, top / 3] as const) : []),
    ].filter(([size]) => size <= most)
  const first = targets.flatMap((target) =>
    stepsOf(target).flatMap(([size, growing, other]) =>
      target.bodies
        .filter(({ grows, name }) => name === 'valid' || chosen(grows ? growing : other))
        .map((spoiled): Planned => ({ target, spoiled, size })),
    ),
  )
  const small = first.filter(({ size }) => size <= ladder[1]![0])
  const more = Array.from({ length: Math.max(0, least - first.length) }, () => {
    const attempt = small[below(small.length)]!
    return { ...attempt, size: 64 + below(2 * attempt.size) }
  })
  const valid = targets.flatMap(
    (value) => first.find(({ target, spoiled }) => target === value && spoiled.name === 'valid') ?? [],
  )
  const all = [...first, ...more]
  const kept =
    sample === null ? all : [...valid, ...shuffled(all.filter((attempt) => !valid.includes(attempt)))].slice(0, sample)
  return kept
    .map((attempt) => [targets.indexOf(attempt.target), attempt] as const)
    .sort(([one, { size }], [other, attempt]) => one - other || size - attempt.size)
    .map(([, attempt]) => attempt)
}
