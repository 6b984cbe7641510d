import { createContext, runInContext } from 'node:vm'
import { type Adversary, adversaries, grown } from './adversaries.ts'

const sizes = [1_250, 2_500, 5_000, 10_000, 20_000] as const

/** Ms over the longest text from which a growth counts. */
const slow = 20
/** A text of double length that takes so many times as long shows more than a line. */
const steep = 3.2
/** Ms after which a run is cut. */
const cut = 500

const play = `(source, flags, texts, now) => {
  const pattern = new RegExp(source, flags)
  return texts.map((text) => {
    const begun = now()
    pattern.lastIndex = 0
    if (pattern.sticky || !pattern.global) pattern.test(text)
    else for (let from = -1; pattern.test(text); from = pattern.lastIndex) if (pattern.lastIndex === from) pattern.lastIndex++
    return now() - begun
  })
}`

/** Ms for each text; null where all together last longer than `most` ms, and are cut. */
const timed = (pattern: RegExp, texts: readonly string[], most: number): readonly number[] | null => {
  const { source, flags } = pattern
  const scope = createContext({ source, flags, texts, now: () => performance.now() })
  try {
    return runInContext(`(${play})(source, flags, texts, now)`, scope, { timeout: most }) as readonly number[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
    throw error
  }
}

/** The best of three, so that a busy machine counts less. */
const timeOf = (pattern: RegExp, text: string): number => {
  const once = timed(pattern, [text], cut)
  return once === null ? Infinity : Math.min(...once, ...(timed(pattern, [text, text], 2 * cut) ?? []))
}

const isSteep = (pattern: RegExp, adversary: Adversary): boolean => {
  const times: number[] = []
  // Each text is longer than the text before, so the run behind a cut one would be cut too.
  for (const size of sizes) times.push(times.at(-1) === Infinity ? Infinity : timeOf(pattern, grown(adversary, size)))
  if ((times.at(-1) ?? 0) <= slow) return false
  return times.slice(1).filter((time, at) => time === Infinity || time >= steep * (times[at] ?? 0)).length >= 2
}

/** Characters of a first look, over which a square takes a sixteenth of the time. */
const first = 5_000

/** A text over which the time of a pattern grows faster than the text; null without one. */
export const steepText = (pattern: RegExp): Adversary | null => {
  const all = adversaries(pattern.source, pattern.flags)
  const times = timed(
    pattern,
    all.map((adversary) => grown(adversary, first)),
    cut,
  )
  return all.find((adversary, at) => (times?.[at] ?? Infinity) > slow / 16 && isSteep(pattern, adversary)) ?? null
}
