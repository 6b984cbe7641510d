/** Fractions below 1 that a seed repeats: mulberry32. They keep no secret. */
export const seededFractions = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Two halves by lot; the first one has one more of an odd number. */
export const randomHalves = <T>(all: readonly T[], fraction: () => number): readonly [readonly T[], readonly T[]] => {
  const mixed = [...all]
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = Math.floor(fraction() * (at + 1))
    ;[mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!]
  }
  const half = Math.ceil(mixed.length / 2)
  return [mixed.slice(0, half), mixed.slice(half)]
}
