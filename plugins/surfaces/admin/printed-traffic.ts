import { type Counts, quantileOf } from '../../observers/traffic/counts.ts'

/** Counts in public form: times by their quantiles, and costs in the currency instead of millionths. */
export const printed = (
  { requests, errors, sealed, times, firsts, input, output, cost, unpriced }: Counts,
  tellsErrors: boolean,
) => ({
  ...{ requests, errors: tellsErrors ? errors : null, sealed },
  ...{ p50_ms: quantileOf(times, 0.5), p95_ms: quantileOf(times, 0.95) },
  ...{ first_token_p50_ms: quantileOf(firsts, 0.5), first_token_p95_ms: quantileOf(firsts, 0.95) },
  ...{ input, output, cost: cost / 1e6, unpriced },
})
