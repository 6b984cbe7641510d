import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { planned } from './hunt/plan.ts'
import { forgetPeak } from './hunt/processes.ts'
import { targets } from './hunt/targets.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

t.test('a whole hunt sends every place of every route spoiled, the same for the same seed', async (t) => {
  const all = await targets()
  const plan = planned(all, { seed: 1, least: 20_000, sample: null, most: Infinity })
  t.ok(plan.length >= 20_000, `${plan.length} bodies`)
  const sent = new Set(plan.map(({ target, spoiled }) => `${target.name}: ${spoiled.name}`))
  const missing = all
    .flatMap(({ name, bodies }) => bodies.map((it) => `${name}: ${it.name}`))
    .filter((it) => !sent.has(it))
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

t.test('a sample of the hunt finds nothing beyond its bounds', { skip }, async (t) => {
  const hunt = fileURLToPath(new URL('./hunt/run.js', import.meta.url))
  const given = ['--sample', '250', '--seed', '1', '--most', '1048576']
  const child = spawn(process.execPath, [hunt, ...given], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill())
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  t.equal(code, 0, said + complained)
  t.match(said, /250 bodies, \d+ judged by their route, 0 beyond the bounds/)
})
