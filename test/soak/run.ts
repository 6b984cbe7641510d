import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { deadUrl } from '../faults/provider.ts'
import { startBackend } from './backend.ts'
import { startGateway } from './gateway.ts'
import { families, type Target, type Traffic } from './traffic.ts'

/** `npm run soak [minutes] [family …]`: mixed calls against one gateway, three of ten left at a random moment. */
const [given = '10', ...names] = process.argv.slice(2)
const minutes = Number(given)
if (!(minutes > 0)) throw new Error('How many minutes?')

const workers = 32
const share = 0.3
const mebibyte = 1024 * 1024
const key = `sk_live_${'4'.repeat(44)}`
const length = minutes * 60_000
/** The heap grows to its working size first. */
const warm = Math.min(120_000, length / 2)
/** Samples of less than this say nothing of megabytes a minute. */
const telling = 180_000

const traffic = await families(names)
const backend = await startBackend()
const gateway = await startGateway({ BACKEND: backend.url, DEAD: await deadUrl(), KEY: key, FAMILIES: names.join(',') })
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
const target: Target = { base: gateway.base, key, agent }
const atRest = await gateway.sockets()

const left = new Map<string, number>()
const calls = new Map<string, number[]>()
const wrong = new Map<string, number>()
const count = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1)

const whole = traffic.reduce((sum, { weight }) => sum + weight, 0)
const drawn = (): Traffic => {
  let lot = Math.random() * whole
  return traffic.find(({ weight }) => (lot -= weight) < 0) ?? traffic[0]!
}

let begun = 0
let gone = 0

const call = async (family: Traffic): Promise<void> => {
  const leave = new AbortController()
  // Some calls are over before they are left, so more are told to leave as long as too few did.
  const leaves = gone < share * begun++ && Math.random() < 0.7
  const timer = leaves ? setTimeout(() => leave.abort(new Error('Left')), Math.random() * family.ms) : null
  const began = performance.now()
  try {
    const flaw = await family.call(target, leave.signal)
    if (flaw !== null) return void count(wrong, `${family.name}: ${flaw}`)
    const times = calls.get(family.name)
    if (times) times.push(performance.now() - began)
    else calls.set(family.name, [performance.now() - began])
  } catch (error) {
    if (leave.signal.aborted) {
      gone++
      count(left, family.name)
    } else
      count(
        wrong,
        `${family.name}: ${error instanceof Error ? ((error as { code?: string }).code ?? error.message) : error}`,
      )
  } finally {
    if (timer !== null) clearTimeout(timer)
  }
}

const began = performance.now()
let busy = 0
/** While it is there, no call begins. */
let calm: Promise<void> | null = null

const worker = async () => {
  while (performance.now() - began < length) {
    if (calm !== null) await calm
    busy++
    await call(drawn())
    busy--
  }
}

interface Sample {
  readonly at: number
  readonly rss: number
  readonly kept: number
}
const samples: Sample[] = []
let loaded: number | null = null
let lost = 0

/** What is measured in a moment without calls is not blurred by those that are under way. */
const sample = async () => {
  loaded = await gateway.sockets()
  let go = () => {}
  calm = new Promise((resolve) => (go = resolve))
  while (busy > 0) await sleep(5)
  await sleep(50)
  const { rss, kept, held, reserved } = await gateway.state()
  lost = Math.max(lost, held + reserved)
  samples.push({ at: performance.now() - began, rss, kept })
  calm = null
  go()
}

const watch = async () => {
  for (const pause = Math.min(5000, length / 24); performance.now() - began < length - pause;) {
    await sleep(pause)
    await sample()
  }
}
await Promise.all([watch(), ...Array.from({ length: workers }, worker)])

/** Megabytes a minute, by least squares. */
const slope = (of: 'rss' | 'kept'): number => {
  const points = samples.filter(({ at }) => at >= warm)
  const mean = (value: (it: Sample) => number) => points.reduce((sum, it) => sum + value(it), 0) / points.length
  const [x, y] = [mean(({ at }) => at), mean((it) => it[of])]
  const above = points.reduce((sum, it) => sum + (it.at - x) * (it[of] - y), 0)
  const below = points.reduce((sum, { at }) => sum + (at - x) ** 2, 0)
  return ((above / below) * 60_000) / mebibyte
}

agent.destroy()
const running = await gateway.drain()
/** What is kept alive for the next call is closed after some seconds of rest. */
const settled = async (read: () => Promise<number | null>, rest: number): Promise<number> => {
  for (const until = performance.now() + 20_000; ; await sleep(200)) {
    const now = (await read()) ?? 0
    if (now <= rest || performance.now() > until) return now
  }
}
const connections = await settled(backend.open, 0)
const sockets = await settled(gateway.sockets, atRest ?? 0)
const { held, reserved } = await gateway.state()

const all = [...calls.values()].reduce((sum, times) => sum + times.length, 0)
const failed = [...wrong.values()].reduce((sum, it) => sum + it, 0)
const print = (line: string) => process.stdout.write(`${line}\n`)
print(
  `${all + gone + failed} calls in ${minutes} minutes, ${((100 * gone) / (all + gone + failed)).toFixed(1)} % left early`,
)
for (const [name, times] of calls) {
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor((times.length - 1) * part)]!.toFixed(0)
  print(`${name}: ${times.length} whole, ${left.get(name) ?? 0} left, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
}
for (const [name, times] of wrong) print(`${times} × ${name}`)
const [rss, kept] = [slope('rss'), slope('kept')]
const last = samples.at(-1)!
print(
  `memory: ${(last.rss / mebibyte).toFixed(0)} MB resident (${rss.toFixed(2)} MB a minute), ${(last.kept / mebibyte).toFixed(1)} MB kept (${kept.toFixed(2)} MB a minute)`,
)
print(`sockets of the gateway: ${atRest} before, ${loaded} under load, ${sockets} afterwards`)
print(
  `places held ${held}, reservations open ${reserved}, requests under way ${running}, backend: ${connections} connections, ${backend.active()} calls`,
)

const flaws = {
  'unexpected answers': failed > 0,
  'too few left': gone < 0.9 * share * begun,
  'nothing was answered': all === 0,
  'what is kept grows': kept > 1,
  'resident memory grows': length - warm >= telling && rss > 1,
  'sockets leak': sockets > (atRest ?? 0),
  'places or reservations leak': lost + held + reserved > 0,
  'calls go on for nobody': running + connections + backend.active() > 0,
}
const found = Object.entries(flaws).filter(([, there]) => there)
for (const [name] of found) print(`FAILED: ${name}`)
if (found.length === 0) print('passed')
await gateway.stop()
backend.close()
process.exitCode = found.length === 0 ? 0 : 1
