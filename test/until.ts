export { until } from '../adapters/drill/until.ts'

/** Ms in which sums of use are read anew. Those that took long to add up are given again for up to half a minute. */
export const sumsMs = 40_000
