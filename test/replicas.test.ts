import './fakes/unwatched.ts'
import t from 'tap'
import { abandon, drive, laneOf, opened, play, together } from './replicas/lane.ts'
import type { Begin } from './replicas/operations.ts'
import { make } from './replicas/perform.ts'
import { begin } from './replicas/begin.ts'
import { type Limits, names, quiet } from './replicas/scene.ts'
import { servers, staged } from './replicas/stage.ts'
import { differing, total } from './replicas/usage.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 20_301)
const goal = isWhole ? 10_000 : 500
/** Sequences that nothing disturbs, at least. */
const undisturbed = isWhole ? 10 : 6
/** Sequences at once. */
const wide = 8

const unlimited: Limits = {
  requestsPerSecond: null,
  concurrentRequests: null,
  tokensPerMinute: null,
  tokensPerDay: null,
}
const busy: Begin = { do: 'begin', which: 0, kind: 'chat', count: 8, replica: 0, calm: true, size: 0, most: 300 }

const stores = await servers(t)
const skip = stores === null && 'there is no redis-server or no PostgreSQL'

t.test('limits hold across three replicas', { skip }, async (t) => {
  const stage = await staged(t, stores!)
  const lanes = Array.from({ length: wide }, (_, at) => laneOf(`lane${at}`))
  // What runs for the first time takes its time.
  const warm = laneOf('warm')
  await drive(stage, warm, { seed, numRuns: 1 })
  const began = performance.now()
  const done = () => lanes.reduce((sum, { figures }) => sum + figures.requests, 0)
  await Promise.all(
    lanes.map(async (lane, at) => {
      for (let round = 0; done() < goal; round++)
        await drive(stage, lane, { seed: seed + 100 * round + at, numRuns: 2 })
    }),
  )
  const { operations, refused, requests, ...rest } = together(lanes)
  const seconds = (performance.now() - began) / 1000
  t.comment(`SEALGATE_SEED=${seed}: ${requests} requests in ${seconds.toFixed(1)} s, ${wide} sequences at once`)
  t.comment(`operations: ${JSON.stringify(operations)}`)
  t.comment(`rightly refused: ${JSON.stringify(refused)}`)
  t.comment(`slowest: ${JSON.stringify(rest)}`)
  for (const kind of ['concurrent/key', 'concurrent/organization', 'decision/key', 'stream/key'])
    t.comment(`most in flight: ${stage.provider.most(kind)} of a ${kind}`)
  t.ok(requests >= goal, `${requests} requests`)

  t.same(await differing(stage, [warm, ...lanes]), [], 'the replicas wrote down together exactly what was used')
  t.comment(`used: ${JSON.stringify(total(lanes))}`)
  t.equal(stage.provider.open(), 0, 'the provider is asked nothing any more')
  const spoilt = [warm, ...lanes].flatMap(({ spoilt }) => [...spoilt])
  const taken = async () => (await stage.taken()).filter((name) => !spoilt.some((text) => name.includes(text)))
  // A call is answered before its place is given back.
  await until(async () => (await taken()).length === 0)
  t.same(await taken(), [], 'no place is taken in Redis')
  const whole = lanes.reduce((sum, { over }) => sum + over.length, 0)
  t.ok(whole >= undisturbed, `${whole} sequences were undisturbed to their end`)

  await t.test('and what is lost is noticed', async (t) => {
    const lane = laneOf('thief')
    const scene = await opened(stage, lane)
    await make(scene, 0, { ...unlimited, concurrentRequests: 2 })
    const [key] = scene.keys
    await quiet(scene)
    await stage.steal(names.key(key!))
    await t.rejects(begin(scene, { ...busy, count: 2, most: 1 }), { message: /1 of 2 are refused/ }, 'a place')
    await t.rejects(quiet(scene, 200), { message: /places are not given back/ })
    await abandon(scene)
    const other = await opened(stage, lane)
    await make(other, 0, { ...unlimited, tokensPerDay: 4000 })
    await stage.steal(`tokens/day/key/${other.keys[0]!.id}`, { left: 3990 })
    await t.rejects(quiet(other, 200), { message: /an allowance holds 3990/ }, 'an allowance')
  })
  t.same(
    stage.logged().filter(({ event, status }) => event !== 'redis.down' && !(event === 'fault' && status === 503)),
    [],
    'nothing else went wrong',
  )
  t.same(await stage.stop(), [0, 0, 0, 0], 'every process ends by itself')
})

/** What breaks each sentence where nobody counts for all. */
const overdone: Readonly<
  Record<string, { readonly limits: Partial<Limits>; readonly calls: Partial<Begin>; readonly said: RegExp }>
> = {
  'requests at once': { limits: { concurrentRequests: 2 }, calls: {}, said: /is number 3 of 2 in concurrent/ },
  'requests a second': { limits: { requestsPerSecond: 2 }, calls: {}, said: /pass requests/ },
  'tokens a minute': { limits: { tokensPerMinute: 700 }, calls: {}, said: /pass tokens.minute/ },
  'tokens a day': { limits: { tokensPerDay: 700 }, calls: { kind: 'stream' }, said: /pass tokens.day/ },
  decisions: { limits: {}, calls: { kind: 'decision' }, said: /is number 5 of 4 in decision/ },
  'sealed streams': { limits: {}, calls: { kind: 'sealed stream' }, said: /pass stream/ },
  organisations: { limits: {}, calls: {}, said: /is number 8 of 7 in concurrent.organization/ },
}

t.test('replicas that count for themselves are caught', { skip }, async (t) => {
  const stage = await staged(t, stores!, true)
  for (const [name, { limits, calls, said: pattern }] of Object.entries(overdone)) {
    const lane = laneOf(name.replaceAll(' ', '-'))
    const figures = { ...busy, ...calls, calm: false }
    const sequence = { keys: [{ ...unlimited, ...limits }], operations: [figures] }
    await t.rejects(play(await opened(stage, lane), sequence), { message: pattern }, name)
  }
  await t.rejects(
    drive(stage, laneOf('any'), { seed, numRuns: 20 }),
    { cause: { message: /is number|pass/ } },
    'by chance, too',
  )
})
