import type { Outcome, Used } from '../../../core/ports/observer.ts'
import type { Grouping } from './traffic-question.ts'

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

/** Names of one grouping in a slot, and what comes after them. No organisation is called `*`. */
const few = { most: 100, rest: 'other' }
const many = { most: 1_000, rest: '*' }
const bounds: Readonly<Record<Grouping, typeof few>> = { model: few, team: few, backend: few, organization: many }

type Named = Record<Grouping, Map<string, Counts>>

interface Slot {
  /** Counts steps since 1970. */
  readonly number: number
  readonly all: Counts
  readonly named: Named
}

/** The counts of some last slots: those of all requests or of one name, and the sums of each name. */
export interface Told {
  /** One for each step, the latest last. */
  readonly slots: readonly Counts[]
  readonly sums: Readonly<Record<string, Counts>>
}

/** So many last steps of so many ms each, in memory. What happens counts in the slot of now. */
export interface Ring {
  readonly steps: number
  readonly ms: number
  left(now: number, route: string, status: number, ms: number): void
  used(now: number, use: Used): void
  firstToken(now: number, model: string, ms: number): void
  /** A call of a backend has ended. */
  saw(now: number, backend: string, outcome: Outcome, ms: number, streams: boolean): void
  told(now: number, by: Grouping, name: string | null): Told
}

const countsUnder = ({ named }: Slot, by: Grouping, wanted: string): Counts => {
  const names = named[by]
  const { most, rest } = bounds[by]
  const known = names.get(wanted) ?? (names.size < most ? undefined : names.get(rest))
  if (known !== undefined) return known
  const counts = noCounts()
  names.set(names.size < most ? wanted : rest, counts)
  return counts
}

const consume = (counts: Counts, { input, output, cost }: Used): void => {
  counts.input += input
  counts.output += output
  counts.cost += cost ?? 0
  if (cost === null) counts.unpriced++
}

const answer = (counts: Counts, use: Used): void => {
  counts.requests++
  consume(counts, use)
}

const addUse = (slot: Slot, use: Used): void => {
  const { model, backend, team, organization } = use
  consume(slot.all, use)
  answer(countsUnder(slot, 'model', model), use)
  // Calls of a backend are counted as they end, those that failed too.
  consume(countsUnder(slot, 'backend', backend), use)
  answer(countsUnder(slot, 'organization', organization), use)
  if (team !== null) answer(countsUnder(slot, 'team', `${organization}/${team}`), use)
}

export const ringOf = ({ steps, ms }: Pick<Ring, 'steps' | 'ms'>): Ring => {
  const slots: (Slot | undefined)[] = []

  const slotAt = (now: number): Slot => {
    const number = Math.floor(now / ms)
    const known = slots[number % steps]
    if (known?.number === number) return known
    const fresh = {
      number,
      all: noCounts(),
      named: { model: new Map(), team: new Map(), organization: new Map(), backend: new Map() },
    }
    slots[number % steps] = fresh
    return fresh
  }

  return {
    steps,
    ms,
    left(now, route, status, ms) {
      const { all } = slotAt(now)
      all.requests++
      if (status >= 500) all.errors++
      if (route.includes(' /rvenc/')) all.sealed++
      addTime(all.times, ms)
    },
    used(now, use) {
      addUse(slotAt(now), use)
    },
    firstToken(now, model, ms) {
      const slot = slotAt(now)
      addTime(slot.all.firsts, ms)
      addTime(countsUnder(slot, 'model', model).firsts, ms)
    },
    saw(now, backend, outcome, ms, streams) {
      const counts = countsUnder(slotAt(now), 'backend', backend)
      if (outcome !== 'broke') counts.requests++
      if (outcome !== 'answered') counts.errors++
      else addTime(streams ? counts.firsts : counts.times, ms)
    },
    told(now, by, wanted) {
      const latest = Math.floor(now / ms)
      const sums = new Map<string, Counts>()
      const seen = Array.from({ length: steps }, (_, back) => {
        const number = latest - steps + 1 + back
        const slot = slots[number % steps]
        if (slot?.number !== number) return noCounts()
        for (const [name, counts] of slot.named[by]) sums.set(name, addCounts(sums.get(name) ?? noCounts(), counts))
        return wanted === null ? slot.all : (slot.named[by].get(wanted) ?? noCounts())
      })
      return { slots: seen, sums: Object.fromEntries(sums) }
    },
  }
}

/** The sums of several processes. */
export const added = (all: readonly Told[]): Told => {
  const [first] = all
  const sums = new Map<string, Counts>()
  for (const { sums: summed } of all)
    for (const [name, counts] of Object.entries(summed)) sums.set(name, addCounts(sums.get(name) ?? noCounts(), counts))
  return {
    slots: (first?.slots ?? []).map((_, at) =>
      all.reduce((sum, { slots }) => addCounts(sum, slots[at] ?? noCounts()), noCounts()),
    ),
    sums: Object.fromEntries(sums),
  }
}
