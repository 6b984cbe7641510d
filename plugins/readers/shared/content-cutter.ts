import type { Value } from '../../../core/ports/file-content.ts'

/** The allowance of one answer. Values count cells, fields and items of lists. */
export interface ContentLimits {
  readonly values: number
  readonly characters: number
}

/** Fits values into an allowance of characters. */
export interface Cutter {
  /** The part of the allowance that a value needs: its characters, and at least `least`. */
  cost(value: unknown): number
  /** The value as plain JSON within an allowance. A mark shows how much was left out, at its place. */
  fit(value: unknown, allowance: number): Value
  readonly least: number
  /** True when something was left out so far. */
  cut(): boolean
}

/** Deeper values are left out. */
const deepestNesting = 50

/** The characters of a value, at least `least` for each value in it. A container is measured once. */
const costing = (least: number) => {
  const known = new Map<object, number>()
  const cost = (value: unknown, depth = 0): number => {
    if (!isContainer(value)) return Math.max(least, written(value))
    const before = known.get(value)
    if (before !== undefined) return before
    known.set(value, least)
    let sum = least
    if (depth < deepestNesting) for (const [key, child] of entriesOf(value)) sum += key.length + cost(child, depth + 1)
    known.set(value, sum)
    return sum
  }
  return cost
}

/** A value costs at least its share of the characters, so that both limits are one allowance. */
export const contentCutter = ({ values, characters }: ContentLimits): Cutter => {
  const least = characters / values
  const cost = costing(least)
  let cut = false

  const shortened = (value: unknown, allowance: number): Value => {
    const plain = leaf(value)
    if (typeof plain !== 'string' || plain.length <= Math.max(allowance, least)) return plain
    cut = true
    const kept = Math.max(0, Math.floor(allowance))
    return `${plain.slice(0, kept)}… ${plain.length - kept} more characters`
  }

  const fit = (value: unknown, allowance: number, depth = 0): Value => {
    if (!isContainer(value)) return shortened(value, allowance)
    const entries = entriesOf(value)
    if (depth >= deepestNesting && entries.length > 0) {
      cut = true
      return `… ${entries.length} more`
    }
    const kept = within(entries, allowance - least, Array.isArray(value), depth)
    const more = entries.length - kept.length
    if (more > 0) {
      cut = true
      kept.push(['…', `${more} more`])
    }
    // With an assignment, the key `__proto__` would set the prototype.
    return Array.isArray(value)
      ? kept.map(([key, child]) => (key === '…' ? `… ${child as string}` : child))
      : Object.fromEntries(kept)
  }

  /** A few keys share the allowance. In a list, or an object used as one, the first entries are complete. */
  const within = (entries: readonly Entry[], allowance: number, list: boolean, depth: number): [string, Value][] => {
    const wants = entries.map(([key, child]) => key.length + cost(child, depth + 1))
    const fair = !list && entries.length * least * 10 <= allowance
    const given = fair ? fairShares(allowance, wants) : null
    const kept: [string, Value][] = []
    let left = allowance
    for (const [at, [key, child]] of entries.entries()) {
      const own = given?.[at] ?? Math.min(left, wants[at]!)
      if (own < Math.min(least, wants[at]!) || key.length > own) {
        if (given) continue
        break
      }
      kept.push([key, fit(child, own - key.length, depth + 1)])
      left -= own
    }
    return kept
  }

  return { cost: (value) => cost(value), fit: (value, allowance) => fit(value, allowance), least, cut: () => cut }
}

/** Divides a total: small wishes are met in full, and the rest is shared equally. */
export const fairShares = (total: number, wants: readonly number[]): readonly number[] => {
  const given = new Array<number>(wants.length).fill(0)
  const order = wants.map((_, at) => at).sort((one, other) => wants[one]! - wants[other]!)
  let left = total
  for (const [done, at] of order.entries()) {
    given[at] = Math.min(wants[at]!, left / (order.length - done))
    left -= given[at]
  }
  return given
}

/** A number when a double holds it exactly, otherwise text. */
export const exact = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()

type Entry = readonly [string, unknown]

/** True for lists and objects; bytes and dates are single values. */
export const isContainer = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Uint8Array) &&
  !('toISOString' in value && typeof value.toISOString === 'function')

const entriesOf = (value: object): readonly Entry[] =>
  Array.isArray(value) ? value.map((child: unknown) => ['', child]) : Object.entries(value)

/** In characters: the length of a value as text. Bytes become a short remark. */
const written = (value: unknown): number =>
  typeof value === 'string' ? value.length : value instanceof Uint8Array ? 20 : String(value).length

/** A single value as JSON can hold it. */
const leaf = (value: unknown): string | number | boolean | null => {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return exact(value)
  if (value instanceof Uint8Array) return `${value.length} bytes`
  if (typeof value === 'object' && value !== null) return (value as Date).toISOString()
  return null
}
