import { Counter, Gauge, Histogram, AggregatorRegistry, Registry } from 'prom-client'
import t from 'tap'
import { measurements } from '../../../../adapters/production/workers/measurements.ts'
import type { Measured } from '../../../../core/ports/cluster.ts'

/** A worker that ends when told to. */
const worker = () => {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { ended, end }
}

/** What a worker tells that has answered so many requests. */
const measuredBy = (requests: number, names: readonly string[] = ['a']): Promise<Measured> => {
  const registry = new Registry()
  const registers = [registry]
  const counter = new Counter({ name: 'requests_total', help: 'x', labelNames: ['name'], registers })
  for (const name of names) counter.inc({ name }, requests)
  new Histogram({ name: 'seconds', help: 'x', buckets: [1], registers }).observe(requests)
  new Gauge({ name: 'active', help: 'x', registers }).set(requests)
  return registry.getMetricsAsJSON()
}

const linesOf = async (measured: readonly Measured[]): Promise<readonly string[]> =>
  (await AggregatorRegistry.aggregate(measured as object[][]).metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

t.test('sums of ended workers stay, and their gauges go', async (t) => {
  const known = measurements()
  const [asks, first, second] = [worker(), worker(), worker()]
  known.note(asks, await measuredBy(1))
  known.note(first, await measuredBy(3))
  known.note(first, await measuredBy(4))
  known.note(second, await measuredBy(5))
  const before = await linesOf(await known.besides(asks))
  t.ok(before.includes('requests_total{name="a"} 9'), 'the last answer of each counts once')
  t.ok(before.includes('active 9'))
  first.end()
  await first.ended
  const after = await linesOf(await known.besides(asks))
  t.ok(after.includes('requests_total{name="a"} 9'))
  t.ok(after.includes('seconds_sum 9'))
  t.ok(after.includes('active 5'), 'gauges end with their process')
  second.end()
  await second.ended
  t.same(
    (await linesOf(await known.besides(asks))).filter((line) => !line.startsWith('seconds')),
    ['requests_total{name="a"} 9'],
  )
})

t.test('a worker that ends before its first answer is noted counts once', async (t) => {
  const known = measurements()
  const [asks, gone] = [worker(), worker()]
  gone.end()
  known.note(gone, await measuredBy(2))
  await gone.ended
  t.ok((await linesOf(await known.besides(asks))).includes('requests_total{name="a"} 2'))
})

t.test('names of ended workers do not grow without end', async (t) => {
  const known = measurements()
  for (const round of ['a', 'b', 'c']) {
    const each = worker()
    const names = Array.from({ length: 20_000 }, (_, at) => `${round}${at}`)
    known.note(each, await measuredBy(1, names))
    each.end()
    await each.ended
  }
  const lines = await linesOf(await known.besides(worker()))
  t.ok(lines.length < 50_000)
  t.ok(lines.includes('requests_total{name="b7"} 1'), 'those that fit stay')
})
