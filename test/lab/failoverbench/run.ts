import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { spawned, startedGateway } from '../bench/spawned.ts'
import { ended, pythonWith } from '../suites/python.ts'
import { type Catalogue, type Row, configFor, rows, systemFor } from './system.ts'

/**
 * `npm run failoverbench -- CHECKOUT [SYSTEM…]` plays the catalogue of Failover Bench, which stands in the user's own
 * checkout, against a started sealgate; systems of the checkout, such as `direct` and `reference`, stand beside it.
 */
const [given, ...systems] = process.argv.slice(2)
if (given === undefined) throw new Error('Name the folder of a checkout of Failover Bench, and systems of it')
console.log(`Failover Bench runs from ${given}, a checkout of your own; no part of it belongs to sealgate.`)

const checkout = resolve(given)
const results = resolve('dist/suites/failoverbench')
const key = `sk_live_${'2'.repeat(44)}`
const profile = process.env['SEALGATE_PROFILE'] ?? 'full'

/** What peers need that run in the process of the runner. */
const needs: Readonly<Record<string, string>> = { litellm: 'litellm==1.110.2', openai: 'openai==3.57.0' }
const wanted = Object.keys(needs).filter((name) => systems.some((system) => system.startsWith(name)))
const packages = ['httpx==0.28.1', 'PyYAML==6.0.4', ...wanted.map((name) => needs[name]!)]
const python = join(await pythonWith(...packages), 'python')
const catalogue = parse(await readFile(join(checkout, 'scenarios/catalogue.yaml'), 'utf8')) as Catalogue
const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string }

const bench = async (command: string, ...args: readonly string[]): Promise<string> => {
  const all = ['-m', 'failoverbench', command, '--profile', profile, ...args]
  const { code, out, err } = await ended(python, all, {}, checkout)
  if (code !== 0) throw new Error(`${command} failed: ${out}${err}`)
  return out
}

/** Plays one system before a wall of its own, since a wall counts the calls of everybody who asks it. */
const play = async (systemAt: (wall: string) => Promise<string>): Promise<void> => {
  const wall = await spawned(checkout, (port) => ['-m', 'failoverbench', 'wall', '--port', `${port}`], {}, python)
  try {
    const file = await systemAt(wall.base)
    console.log(`${file}\n${await bench('run', '--system', file, '--wall', wall.base, '--out', results)}`)
  } finally {
    await wall.stop()
  }
}

const playOurselves = async (row: Row): Promise<void> => {
  const stops: (() => Promise<void>)[] = []
  await play(async (wall) => {
    const gateway = await startedGateway(configFor(catalogue, wall, row), key)
    stops.push(gateway.stop)
    const file = join(results, `${row.name}.yaml`)
    await writeFile(file, systemFor(row, gateway.base, key, version))
    return file
  }).finally(() => Promise.all(stops.map((stop) => stop())))
}

await mkdir(results, { recursive: true })
await Promise.all([
  ...rows.map(playOurselves),
  ...systems.map((name) => play(() => Promise.resolve(join(checkout, 'systems', `${name}.yaml`)))),
])
await bench('report', '--results', results)
console.log(await readFile(join(results, profile, 'SCORECARD.md'), 'utf8'))
