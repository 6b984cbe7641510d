import { setTimeout as sleep } from 'node:timers/promises'
import { callersOf, tidied } from './callers.ts'
import { crewOf } from './crew.ts'
import { type Sample, flawsOf, report } from './report.ts'
import { stage } from './stage.ts'
import { families } from './traffic.ts'

/** `npm run soak [minutes] [family …]`: mixed calls against one gateway and its enclaves, three of ten left at a random moment. */
const [given = '10', ...names] = process.argv.slice(2)
const minutes = Number(given)
if (!(minutes > 0)) throw new Error('How many minutes?')
process.once('SIGTERM', () => process.exit(1))

const workers = 32
const share = 0.3
const length = minutes * 60_000
/** Ms that a key of an enclave lives. */
const life = Math.min(15_000, Math.max(5_000, length / 10))

const traffic = await families(names)
const { gateway, enclave, backend, ...more } = await stage(traffic, workers + 16, life)
const callers = callersOf(gateway.base, gateway.keys)
const crew = crewOf(traffic, callers, share)

const sockets = async () => ({ gateway: await gateway.sockets(), enclave: await enclave.sockets() })
// The gateway keeps a line to each enclave on which it fetched keys: both stand before anything is counted.
await Promise.all([more.keys('e0'), more.keys('e1')])
const before = await sockets()
let loaded = before

/** What comes to rest of itself within `patience` ms; what it is then. */
const settled = async (read: () => Promise<number>, rest: number, patience: number): Promise<number> => {
  for (const until = performance.now() + patience; ; await sleep(100)) {
    const now = await read()
    if (now <= rest || performance.now() > until) return now
  }
}
const held = async () => {
  const { held, reserved } = await gateway.state()
  return held + reserved
}

const began = performance.now()
const samples: Sample[] = []
const kids = new Set(await more.keys('e0'))
const first = kids.size
let restarts = 0
let lost = 0

const look = async () => {
  for (const kid of await more.keys('e0')) kids.add(kid)
}

/** What is measured in a moment without calls is not blurred by those that are under way. */
const sample = async (renews: boolean) => {
  loaded = await sockets()
  const go = await crew.calm()
  await sleep(50)
  lost = Math.max(lost, await settled(held, 0, 2_000))
  const [outer, inner] = await Promise.all([gateway.state(), enclave.state()])
  samples.push({ at: performance.now() - began, gateway: outer, enclave: inner })
  if (renews) {
    await more.renew()
    restarts++
  }
  await look()
  go()
}

const watch = async () => {
  const pause = Math.min(10_000, length / 5)
  for (let turn = 1; performance.now() - began < length - pause; turn++) {
    await sleep(pause)
    await sample(turn % 3 === 2)
  }
}
await Promise.all([watch(), crew.work(workers, () => performance.now() - began >= length)])
await look()

// What was left may still be on its way into the store, and a file that is indexed while it is removed goes when that ends.
await settled(held, 0, 5_000)
await sleep(500)
for (const caller of callers.all) await tidied(caller)
await settled(more.stored, 0, 5_000)
const { orphans } = await gateway.sweep()
const threads = await settled(async () => (await enclave.state()).threads, 0, 5_000)
const open = await gateway.files()
await callers.close()
const running = await gateway.drain()
// What is kept alive for the next call is closed after some seconds of rest, on the line to the enclave after a minute.
const waits = minutes >= 1
const patience = waits ? 90_000 : 0
const after = {
  gateway: await settled(gateway.sockets, before.gateway, patience),
  enclave: await settled(enclave.sockets, before.enclave, patience),
}
const connections = await settled(backend.open, 0, 20_000)
const { held: places, reserved: reservations } = await gateway.state()

const findings = {
  tallies: crew.tallies,
  samples,
  length,
  share,
  sockets: { before, loaded, after, judged: waits },
  rotations: kids.size - first,
  restarts,
  late: callers.late(),
  rest: {
    'places or reservations in between': lost,
    'places held': places,
    'reservations open': reservations,
    'requests under way': running,
    'connections to the backend': connections,
    'calls of the backend': backend.active(),
    'parser threads': threads,
    'stored files open': open,
    'stored files without a record': orphans,
    'stored files': await more.stored(),
    'temporary files': await more.strays(),
  },
}
const print = (line: string) => process.stdout.write(`${line}\n`)
report(findings).forEach(print)
const flaws = flawsOf(findings)
for (const flaw of flaws) print(`FAILED: ${flaw}`)
if (flaws.length === 0) print('passed')
await more.close()
process.exitCode = flaws.length === 0 ? 0 : 1
