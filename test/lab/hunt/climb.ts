import { chance } from '../bench/retrieval/chance.ts'
import type { Spoiled } from './bodies.ts'
import type { Target } from './targets.ts'

/** How a body goes over the wire: with its length, or in chunks of so many bytes. */
export type Framing = 'whole' | number

/** One body of a climb. */
export interface Climber {
  readonly target: Target
  readonly spoiled: Spoiled
  readonly size: number
  readonly framing: Framing
  /** The bound that it stays just under. */
  readonly bound: string
}

/** What a body came to, for each of its bytes. */
export interface Cost {
  /** Microseconds of both main threads for a KiB. */
  readonly work: number
  /** Bytes of memory for a byte. */
  readonly memory: number
}

export interface Climbed extends Climber, Cost {
  readonly status: string
}

const kibibyte = 1024

/** Bounds in how often something may stand in a body. */
const counts: Readonly<Record<string, number>> = {
  'elements of a body': 99_900,
  'members of an object': 4_090,
  'members of a body': 240,
  'depth of JSON': 120,
}
/** Bounds in bytes. */
const lengths: Readonly<Record<string, number>> = {
  'what is read at once': 127 * kibibyte,
  'what keeps its wording': 1_023 * kibibyte,
  'what comes with its head': 15 * kibibyte,
}
export const boundNames: readonly string[] = [...Object.keys(counts), ...Object.keys(lengths), 'bytes of a body']

/** Chunks just over those that are refused, and larger ones. */
const framings: readonly Framing[] = ['whole', 'whole', 'whole', 65, 1_024, 16_384]

/** Bytes beside those that are repeated. */
const margin = 400

/** Bytes of a body just under a bound; null where nothing in it is counted. */
const sizeUnder = (bound: string, { limit }: Target, { unit }: Spoiled, most: number): number | null => {
  const count = counts[bound]
  if (count !== undefined && unit === undefined) return null
  const size = count === undefined ? (lengths[bound] ?? limit) : count * (unit ?? 0) + margin
  return Math.min(size, limit, most)
}

export interface ClimbWish {
  readonly seed: number
  /** Bytes of the largest body. */
  readonly most: number
}

/** How many of the dearest the climb goes on from. */
const parents = 20
/** Of ten bodies, how many are new ones and no children of the dearest. */
const strangers = 4

/**
 * Goes up by cost: begins with every way of spoiling a body just under every bound, keeps the bodies whose bytes cost most
 * work or memory, and goes on from them. The same bodies for the same seed and the same costs.
 */
export const climbing = (targets: readonly Target[], { seed, most }: ClimbWish) => {
  const { below, pick } = chance(seed)
  const climbed: Climbed[] = []
  const names = new Set<string>()

  const bodyOf = (target: Target, spoiled: Spoiled, bound: string, framing: Framing): Climber | null => {
    const size = sizeUnder(bound, target, spoiled, most)
    return size === null ? null : { target, spoiled, size, framing, bound }
  }
  const stranger = (): Climber | null => {
    const target = pick(targets)
    return bodyOf(target, pick(target.bodies), pick(boundNames), pick(framings))
  }
  /** The same with one thing changed: its way, its route, its bound, its length or its framing. */
  const child = ({ target, spoiled, size, framing, bound }: Climber): Climber | null => {
    switch (below(5)) {
      case 0:
        return bodyOf(target, pick(target.bodies), bound, framing)
      case 1: {
        const way = spoiled.name.split(' ').slice(1).join(' ')
        const other = pick(targets)
        const same = other.bodies.filter(({ name }) => name.endsWith(` ${way}`))
        return same.length === 0 ? null : bodyOf(other, pick(same), bound, framing)
      }
      case 2:
        return bodyOf(target, spoiled, pick(boundNames), framing)
      case 3:
        return { target, spoiled, framing, bound, size: Math.min(most, target.limit, (size * (20 + below(280))) >> 7) }
      default:
        return { target, spoiled, size, bound, framing: pick(framings) }
    }
  }
  const nameOf = ({ target, spoiled, size, framing }: Climber) => `${target.name} ${spoiled.name} ${size} ${framing}`
  const fittest = (by: 'work' | 'memory') => [...climbed].sort((one, other) => other[by] - one[by]).slice(0, parents)

  return {
    /** The next body, none of which comes twice; null where nothing new is found. */
    next(): Climber | null {
      for (let tries = 0; tries < 1_000; tries++) {
        const isNew = climbed.length < parents || below(10) < strangers
        const body = isNew ? stranger() : child(pick(fittest(pick(['work', 'work', 'memory']))))
        if (body === null || names.has(nameOf(body))) continue
        names.add(nameOf(body))
        return body
      }
      return null
    },
    /** What the last body came to. */
    came: (one: Climbed) => void climbed.push(one),
    dearest: () => fittest('work'),
    /** Bodies under each bound, and those of them that their route took. */
    covered: (): Readonly<Record<string, { readonly sent: number; readonly taken: number }>> =>
      Object.fromEntries(
        boundNames.map((name) => {
          const under = climbed.filter(({ bound }) => bound === name)
          return [name, { sent: under.length, taken: under.filter(({ status }) => status === '200').length }]
        }),
      ),
  }
}
