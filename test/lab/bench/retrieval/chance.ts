/** The same numbers for the same seed, everywhere. */
export interface Chance {
  /** From 0 up to, and without, `below`. */
  below(below: number): number
  pick<T>(from: readonly T[]): T
  shuffled<T>(all: readonly T[]): readonly T[]
}

export const chance = (seed: number): Chance => {
  let state = seed >>> 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick: (from) => from[below(from.length)]!,
    shuffled(all) {
      const mixed = [...all]
      for (let at = mixed.length - 1; at > 0; at--) {
        const other = below(at + 1)
        ;[mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!]
      }
      return mixed
    },
  }
}
