/** What happened in one span of time, and adds up with other spans and with other processes. */
export interface Counts {
  requests: number
  errors: number
  sealed: number
  input: number
  output: number
  /** In millionths of the currency; of the priced calls. */
  cost: number
  unpriced: number
  /** How many requests took how long, and how many streams had a first token how soon; empty without any. */
  times: number[]
  firsts: number[]
}

export const noCounts = (): Counts => ({
  ...{ requests: 0, errors: 0, sealed: 0, input: 0, output: 0, cost: 0, unpriced: 0 },
  ...{ times: [], firsts: [] },
})

/** Each bucket ends so much later than the one before: a quantile is true to a seventh. */
const growth = 1.15
/** Ms; what is faster is in the first bucket, and what is slower than five minutes in the last. */
const [fastest, slowest] = [1, 300_000]
const last = Math.ceil(Math.log(slowest / fastest) / Math.log(growth))

/** Counts a time in its bucket. */
export const addTime = (buckets: number[], ms: number): void => {
  const at = Math.min(last, Math.max(0, Math.ceil(Math.log(Math.max(ms, fastest) / fastest) / Math.log(growth))))
  while (buckets.length <= at) buckets.push(0)
  buckets[at] = (buckets[at] ?? 0) + 1
}

/** The end of the bucket that so large a share of the times does not pass, in ms; null of none. */
export const quantileOf = (buckets: readonly number[], share: number): number | null => {
  const all = buckets.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let passed = 0
  const at = buckets.findIndex((count) => (passed += count) >= all * share)
  return Math.round(fastest * growth ** at)
}

const addBuckets = (sum: number[], more: readonly number[]): void => {
  for (const [at, count] of more.entries()) sum[at] = (sum[at] ?? 0) + count
}

/** Adds the second counts to the first. */
export const addCounts = (sum: Counts, more: Counts): Counts => {
  for (const name of ['requests', 'errors', 'sealed', 'input', 'output', 'cost', 'unpriced'] as const)
    sum[name] += more[name]
  addBuckets(sum.times, more.times)
  addBuckets(sum.firsts, more.firsts)
  return sum
}
