import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { climbing } from './lab/hunt/climb.ts'
import { planned } from './lab/hunt/plan.ts'
import { forgetPeak } from './lab/hunt/processes.ts'
import { targets } from './lab/hunt/targets.ts'
import { slowness } from './slowness.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

t.test('a whole hunt sends every place of every route spoiled, the same for the same seed', async (t) => {
  const all = await targets()
  const plan = planned(all, { seed: 1, least: 20_000, sample: null, most: Infinity })
  t.ok(plan.length >= 20_000, `${plan.length} bodies`)
  const sent = new Set(plan.map(({ target, spoiled }) => `${target.name}: ${spoiled.name}`))
  const missing = all
    .flatMap(({ name, bodies }) => bodies.map((body) => `${name}: ${body.name}`))
    .filter((text) => !sent.has(text))
  t.same(missing, [])
  t.same(
    planned(all, { seed: 7, least: 0, sample: 50, most: 1024 }).map(({ spoiled, size }) => [spoiled.name, size]),
    planned(all, { seed: 7, least: 0, sample: 50, most: 1024 }).map(({ spoiled, size }) => [spoiled.name, size]),
  )
})

t.test('a sample has a valid body of each route', async (t) => {
  const all = await targets()
  const sample = planned(all, { seed: 3, least: 20_000, sample: all.length, most: Infinity })
  t.same(new Set(sample.map(({ target }) => target.name)), new Set(all.map(({ name }) => name)))
  t.ok(sample.every(({ spoiled }) => spoiled.name === 'valid'))
})

/** How many bodies go to which routes, on which way. */
const samples = [
  { name: 'a sample of the hunt finds nothing beyond its bounds', bodies: 250, only: '', env: {} },
  {
    name: 'chats that go no straight way keep the bounds too',
    ...{ bodies: 60, only: 'chat/completions', env: { SEALGATE_WAY: 'long' } },
  },
]

for (const { name, bodies, only, env } of samples)
  t.test(name, { skip }, async (t) => {
    const hunt = fileURLToPath(new URL('./lab/hunt/run.js', import.meta.url))
    const given = ['--sample', `${bodies}`, '--seed', '1', '--most', '1048576', '--only', only]
    const child = spawn(process.execPath, [hunt, ...given], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    t.teardown(() => child.kill())
    const [words, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    t.equal(code, 0, words + complained)
    t.match(words, new RegExp(`${bodies} bodies, \\d+ judged by their route, 0 beyond the bounds`))
  })

t.test('a climb goes on from what costs most, and is the same for the same seed', async (t) => {
  const all = await targets()
  /** Costs as if the enclave were dear, and depth dearest of all. */
  const played = (seed: number) => {
    const climb = climbing(all, { seed, most: 1024 * 1024 })
    const names: string[] = []
    for (let at = 0; at < 600; at++) {
      const one = climb.next()!
      names.push(`${one.target.name} ${one.spoiled.name} ${one.size} ${one.framing}`)
      const work = (one.target.envelope === null ? 1 : 5) * (one.spoiled.name.includes('deep') ? 10 : 1)
      climb.came({ ...one, work, memory: 0, status: '200' })
    }
    return { names, climb }
  }
  const { names, climb } = played(1)
  t.same(names, played(1).names)
  t.notSame(names, played(2).names)
  t.equal(new Set(names).size, names.length, 'no body comes twice')
  t.ok(climb.dearest().every(({ work }) => work === 50))
  const deep = (some: readonly string[]) => some.filter((name) => name.includes(' deep ')).length
  // By chance two ways of some twenty-five are deep.
  t.ok(deep(names) > 150, `${deep(names)} deep ones`)
  for (const [bound, { sent }] of Object.entries(climb.covered())) t.ok(sent > 20, `${sent} bodies under ${bound}`)
})

t.test('three thousand bodies of the climb stay within their bounds', { skip, timeout: 600_000 }, async (t) => {
  const climb = fileURLToPath(new URL('./lab/hunt/run-climb.js', import.meta.url))
  const busy = slowness()
  const bounds = ['--stall', String(300 * busy), '--late', String(100 * busy)]
  const given = ['--bodies', '3000', '--seed', '1', '--most', '524288', ...bounds]
  const child = spawn(process.execPath, [climb, ...given], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill())
  const [words, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  t.equal(code, 0, words + complained)
  t.match(words, /3000 bodies, 0 kinds beyond the bounds, seed 1/)
  t.equal(words.split('\n').filter((line) => /, under /.test(line)).length, 20, 'the dearest')
})
