import './fakes/unwatched.ts'
import { readdir } from 'node:fs/promises'
import t from 'tap'
import { above, contest, times } from './lab/bench/contest.ts'
import { intervalOf } from './lab/bench/interval.ts'
import { measure, start } from './lab/bench/measure.ts'
import { told } from './lab/bench/told.ts'

t.test('whatever the benches measure starts', async (t) => {
  const key = `sk_live_${'2'.repeat(44)}`
  const env = { KEY: key, KEYS: key, FOLDER: t.testdir(), UPSTREAM: 'http://127.0.0.1:1' }
  const files = await readdir(new URL('./lab/bench/subjects/', import.meta.url))
  const names = files.flatMap((file) => /^(?!answering)(.+)\.js$/.exec(file)?.[1] ?? [])
  t.ok(names.length > 7)
  for (const name of names) {
    const subject = await start(name, env)
    t.ok((await subject.cpu()) > 0, name)
    if (name.endsWith('-route')) {
      const load = { path: '/noop', body: '{"name":"x"}', headers: { authorization: `Bearer ${key}` } }
      t.equal((await measure(subject, { ...load, requests: 2, concurrency: 1 })).failed, 0, `${name} serves its route`)
    }
    await subject.stop()
  }
  await t.rejects(start('nothing'), { message: 'nothing ended with 1' })
})

t.test('an interval holds the middle, and one noisy round moves no end of it', async (t) => {
  t.same(intervalOf([6, 1, 2, 5, 3, 4]), { middle: 3.5, low: 1, high: 6 })
  const quiet = Array.from({ length: 12 }, (_, at) => 1 + at / 100)
  const { low, high } = intervalOf(quiet)
  // Of twelve figures two may be left out at either end (3.9 % of fair coins fall so).
  t.same([low, high], [quiet[2], quiet[9]])
  t.same(intervalOf([...quiet.slice(0, 11), 1000]), intervalOf(quiet))
  t.throws(() => intervalOf([1, 2, 3, 4, 5]), { message: 'An interval needs 6 figures' })
})

t.test('a contest plays all in turns until its intervals are narrow', async (t) => {
  const played: string[] = []
  const player = (name: string, costs: (round: number) => number) => {
    let round = 0
    return async () => {
      played.push(name)
      return costs(round++)
    }
  }
  // The machine is twice as slow in every other round, which is no concern of a ratio.
  const slow = (round: number) => (round % 2 === 0 ? 100 : 200)
  const steady = await contest(player('a', slow), { b: player('b', (round) => 1.5 * slow(round)) }, times)
  t.match(steady['b'], { middle: 1.5, low: 1.5, high: 1.5, rounds: 6, isEnough: true })
  t.same(played.slice(0, 6), ['a', 'b', 'b', 'a', 'a', 'b'])
  t.equal(played.length, 2 * (times.warmUps + 6))
  t.match(
    told('it', steady['b']!, 1.4),
    '1.50 times the CPU of the bare proxy (1.50 to 1.50 in 6 rounds; at most 1.40, BEYOND',
  )

  const wild = await contest(
    player('a', () => 1),
    { b: player('b', (round) => 1 + (round % 2)) },
    { ...times, most: 20, warmUps: 0 },
  )
  t.match(wild['b'], { rounds: 20, isEnough: false })
  t.match(told('it', wild['b']!, null), 'TOO WIDE')

  const more = await contest(
    player('a', () => 2),
    { b: player('b', () => 2.25) },
    above(0.1),
  )
  t.match(more['b'], { middle: 0.25, rounds: 6, isEnough: true })
})
