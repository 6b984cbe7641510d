import type { Standing } from './contest.ts'

/** Figures of a contest in words; `asked` is what the ratio may be at most. */
export const told = (title: string, standing: Standing, asked: number | null, baseline = 'the bare proxy'): string =>
  `${title}: ${standing.middle.toFixed(2)} times the CPU of ${baseline} (${spread(standing, 2)}${within(standing, asked, 2)}; ${standing.cost.toFixed(0)} µs)`

/** Milliseconds on top of a baseline. */
export const toldAbove = (
  title: string,
  standing: Standing,
  asked: number | null,
  baseline = 'the bare proxy',
): string =>
  `${title}: ${standing.middle.toFixed(2)} ms more than ${baseline} (${spread(standing, 2)}${within(standing, asked, 2)})`

const spread = ({ low, high, rounds, isEnough }: Standing, digits: number): string =>
  `${low.toFixed(digits)} to ${high.toFixed(digits)} in ${rounds} rounds${isEnough ? '' : ', TOO WIDE'}`

const within = ({ middle }: Standing, asked: number | null, digits: number): string =>
  asked === null ? '' : `; at most ${asked.toFixed(digits)}${middle > asked ? ', BEYOND' : ''}`
