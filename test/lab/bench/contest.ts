import { type Interval, fewest, intervalOf } from './interval.ts'

/** One round of work; gives what it cost. */
export type Round = () => Promise<number>

export interface Rules {
  /** What a figure is: how a cost compares with the baseline's of the same round. */
  readonly against: (cost: number, baseline: number) => number
  /** Whether the interval of the figures tells enough. */
  readonly enough: (interval: Interval) => boolean
  readonly most: number
  /** Rounds that count for nothing, while the engine still compiles what runs often. */
  readonly warmUps: number
}

export interface Standing extends Interval {
  readonly rounds: number
  readonly isEnough: boolean
  /** In the unit of the rounds, median. */
  readonly cost: number
}

const narrow = 0.05

/** How many times the baseline; until the interval is under 5 % of it. */
export const times: Rules = {
  against: (cost, baseline) => cost / baseline,
  enough: ({ low, middle, high }) => high - low < narrow * middle,
  most: 40,
  warmUps: 8,
}

/** What comes on top of the baseline, until the interval is under so much. */
export const above = (width: number): Rules => ({
  against: (cost, baseline) => cost - baseline,
  enough: ({ low, high }) => high - low < width,
  most: 40,
  warmUps: 3,
})

/**
 * Each round plays all, the baseline too, in an order that turns, so that a noisy moment hits all alike.
 * The contest ends when every interval tells enough, or after the most rounds.
 */
export const contest = async (
  baseline: Round,
  rounds: Readonly<Record<string, Round>>,
  { against, enough, most, warmUps }: Rules,
): Promise<Readonly<Record<string, Standing>>> => {
  const names = Object.keys(rounds)
  const players = [baseline, ...names.map((name) => rounds[name]!)]
  const costs: number[][] = players.map(() => [])
  for (let round = 0; ; round++) {
    for (let turn = 0; turn < players.length; turn++) {
      const at = (round + turn) % players.length
      const cost = await players[at]!()
      if (round >= warmUps) costs[at]!.push(cost)
    }
    const counted = costs[0]!.length
    if (counted < fewest) continue
    const standings = names.map((_, at) => standing(costs[at + 1]!, costs[0]!, against, enough))
    if (counted >= most || standings.every(({ isEnough }) => isEnough))
      return Object.fromEntries(names.map((name, at) => [name, standings[at]!]))
  }
}

const standing = (
  costs: readonly number[],
  baseline: readonly number[],
  against: Rules['against'],
  enough: Rules['enough'],
): Standing => {
  const interval = intervalOf(costs.map((cost, round) => against(cost, baseline[round]!)))
  return { ...interval, rounds: costs.length, isEnough: enough(interval), cost: intervalOf(costs).middle }
}
