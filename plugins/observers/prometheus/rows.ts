import { Counter, type Histogram, type Registry } from 'prom-client'

type Value = string | number

/**
 * Something for each combination of up to three labels. The values are looked up one after the other: a text of all of
 * them would be made with each call.
 */
class Rows<R> {
  readonly #rows = new Map<Value, Map<Value, Map<Value, R>>>()
  readonly #make: (...values: readonly Value[]) => R

  constructor(make: (...values: readonly Value[]) => R) {
    this.#make = make
  }

  of(first: Value, second: Value, third: Value): R {
    const row = this.#rows.get(first)?.get(second)?.get(third)
    return row ?? this.#add(first, second, third)
  }

  *all(): Generator<R> {
    for (const ofFirst of this.#rows.values()) for (const ofSecond of ofFirst.values()) yield* ofSecond.values()
  }

  #add(first: Value, second: Value, third: Value): R {
    const ofFirst = this.#rows.get(first) ?? new Map<Value, Map<Value, R>>()
    const ofSecond = ofFirst.get(second) ?? new Map<Value, R>()
    const row = this.#make(first, second, third)
    this.#rows.set(first, ofFirst.set(second, ofSecond.set(third, row)))
    return row
  }
}

type Labels = Record<string, Value>

const labelled = (names: readonly string[], values: readonly Value[]): Labels =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

/** Adds to the row of these values, in the order of the names. */
export type Count = (amount: number, first: Value, second?: Value, third?: Value) => void

/** A counter that adds up by itself, and tells the library its sums when they are read: the library hashes its labels with each addition. */
export const countsIn = (registry: Registry, name: string, help: string, names: readonly string[]): Count => {
  const rows = new Rows((...values) => ({ labels: labelled(names, values), more: 0 }))
  new Counter({
    name,
    help,
    labelNames: names,
    registers: [registry],
    collect() {
      for (const row of rows.all()) {
        this.inc(row.labels, row.more)
        row.more = 0
      }
    },
  })
  return (amount, first, second = '', third = '') => {
    rows.of(first, second, third).more += amount
  }
}

interface Times {
  readonly labels: Labels
  /** How many were within each bucket, and not within the one before. */
  readonly counts: number[]
  count: number
  sum: number
}

/** Takes a time in seconds. */
export type Observe = (seconds: number, first: Value, second?: Value) => void

/** A histogram of times, as the library has it. */
export const timesIn = (
  registry: Registry,
  name: string,
  help: string,
  names: readonly string[],
  buckets: readonly number[],
): Observe => {
  const rows = new Rows((...values): Times => ({
    labels: labelled(names, values),
    counts: buckets.map(() => 0),
    count: 0,
    sum: 0,
  }))
  const valuesOf = ({ labels, counts, count, sum }: Times) => {
    let within = 0
    const bucket = `${name}_bucket`
    return [
      ...buckets.map((le, at) => ({
        labels: { le, ...labels },
        value: (within += counts[at] ?? 0),
        metricName: bucket,
      })),
      { labels: { le: '+Inf', ...labels }, value: count, metricName: bucket },
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ]
  }
  const metric = {
    name,
    get: async () => ({ name, help, type: 'histogram', values: [...rows.all()].flatMap(valuesOf), aggregator: 'sum' }),
  }
  // The library reads a metric by these two members alone.
  registry.registerMetric(metric as unknown as Histogram)
  return (seconds, first, second = '') => {
    const row = rows.of(first, second, '')
    row.count++
    row.sum += seconds
    const at = buckets.findIndex((most) => seconds <= most)
    if (at >= 0) row.counts[at] = (row.counts[at] ?? 0) + 1
  }
}
