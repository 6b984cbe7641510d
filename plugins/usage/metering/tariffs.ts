import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { Counts } from '../../../core/ports/ledger.ts'

/** How a kind of use is counted. */
export interface Tariff<Truth> {
  /** What is taken from the allowances. */
  amountOf(truth: Truth): number
  /** What is charged for. */
  consumptionOf(truth: Truth): Consumption
  /** `cost` in millionths of the currency; null where it is unknown. */
  countsOf(truth: Truth, cost: number | null): Counts
  /** What counts for a call when its process is killed. */
  guessOf(truth: Truth, cost: number | null): Counts
}

/** A call that no backend answered. */
export const unansweredCall: Counts = { requests: 1, unanswered: 1 }

/** Allowances take input and output alike, whatever each of them costs; what a prompt cache held may be free of them. */
export const tariffOfTokens = (cachedTokens: 'free' | 'counted'): Tariff<Consumption> => ({
  amountOf: ({ input, output, cached = 0 }) => input + output - (cachedTokens === 'free' ? Math.min(input, cached) : 0),
  consumptionOf: (used) => used,
  countsOf: (used, cost) => tokenCounts(used, cost, used.estimated === true),
  guessOf: (used, cost) => tokenCounts(used, cost, true),
})

const tokenCounts = (
  { input, output, reasoning = 0, cached = 0, calls = 1 }: Consumption,
  cost: number | null,
  isGuess: boolean,
): Counts => ({
  requests: calls,
  input,
  output,
  reasoning,
  cached,
  estimated: isGuess ? 1 : 0,
  unpriced: cost === null ? calls : 0,
  cost_micros: cost ?? 0,
  estimated_cost_micros: isGuess ? (cost ?? 0) : 0,
})

const audioCounts = (seconds: number, cost: number | null): Counts => ({
  requests: 1,
  audio_seconds: seconds,
  unpriced: cost === null ? 1 : 0,
  cost_micros: cost ?? 0,
})

/** By seconds. */
export const tariffOfAudio: Tariff<number> = {
  amountOf: (seconds) => seconds,
  consumptionOf: (seconds) => ({ input: 0, output: 0, seconds }),
  countsOf: audioCounts,
  guessOf: (seconds, cost) => ({ ...audioCounts(seconds, cost), estimated: 1, estimated_cost_micros: cost ?? 0 }),
}
