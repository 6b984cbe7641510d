import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { type Climbed, type Climber, climbing } from './climb.ts'
import { keyAt, sealedFor } from './sealing.ts'
import { type Got, send } from './send.ts'
import { type Stage, openStage } from './stage.ts'
import { targets } from './targets.ts'

/** `npm run hunt:cost`: three attackers send what costs most for its bytes, beside a victim whose waiting is the figure. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    /** Bodies, three of each kind. */
    bodies: { type: 'string', default: '60000' },
    /** Targets whose name has this in it. */
    only: { type: 'string', default: '' },
    /** Bytes of the largest bodies. */
    most: { type: 'string', default: String(4 * 1024 * 1024) },
    /** Ms that a loop may stand still, and ms of work that a victim may wait for in 99 of 100 chats. */
    stall: { type: 'string', default: '300' },
    late: { type: 'string', default: '100' },
  },
})
const attackers = 3
const [seed, bodies, most, stall, late] = [values.seed, values.bodies, values.most, values.stall, values.late].map(
  Number,
) as [number, number, number, number, number]
const mebibyte = 1024 * 1024
/** Garbage of earlier bodies counts too: a young heap of V8 alone takes 48 MiB. */
const [times, beside] = [6, 96 * mebibyte]
/** Bytes that a shorter body counts as: what each request costs alone is no cost of its bytes. */
const least = 64 * 1024
const print = (line: string) => process.stdout.write(`${line}\n`)

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

const set = async () => {
  const stage = await openStage()
  await stage.watch.beside(await stage.keyOf('quiet'))
  const headers = { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' }
  const made = await fetch(`${stage.base}/admin/keys`, { method: 'POST', headers, body: '{}' })
  const { data } = (await made.json()) as { readonly data: { readonly id: string } }
  return { stage, spare: data.id, enclaveKey: await keyAt(stage.base, stage.key) }
}
type Scene = Awaited<ReturnType<typeof set>>

const bytesOf = ({ enclaveKey }: Scene, { target, spoiled, size }: Climber): Buffer => {
  const text = spoiled.text(size)
  return target.envelope === null ? text : sealedFor(enclaveKey, text, target.envelope).body
}

/** Each body has its own connection: the gateway may cut a connection whose last body was refused half-read. */
const sent = ({ stage, spare }: Scene, { target, framing }: Climber, body: Buffer): Promise<Got> => {
  const headers = { authorization: `Bearer ${stage.key}`, 'content-type': target.type }
  const url = stage.base + target.path.replace('{key}', spare)
  return send(new Agent(), url, {
    method: target.method,
    headers,
    body,
    ...(framing !== 'whole' && { chunk: framing }),
  })
}

const fallen = (stage: Stage): readonly string[] => {
  const side = stage.fallen()
  return side === null ? [] : [`the ${side} ended`]
}

let scene = await set()
await new Promise((resolve) => setTimeout(resolve, 3_000))
await scene.stage.watch.begin()
await new Promise((resolve) => setTimeout(resolve, 2_000))
const alone = (await scene.stage.watch.end()).victim!

const all = (await targets()).filter(({ name }) => name.includes(values.only))
const climb = climbing(all, { seed, most })
const works: number[] = []
const waits: number[] = []
const refused: number[] = []
let [count, flawed] = [0, 0]
for (; count < bodies; count += attackers) {
  const one = climb.next()
  if (one === null) break
  const body = bytesOf(scene, one)
  await scene.stage.watch.begin()
  const got = await Promise.all(Array.from({ length: attackers }, () => sent(scene, one, body)))
  const ended = fallen(scene.stage)
  if (ended.length > 0) {
    print(`${one.target.name}: ${one.spoiled.name}, ${one.size} bytes: ${ended.join()}`)
    flawed++
    await scene.stage.close()
    scene = await set()
    continue
  }
  const { gateway, enclave, victim } = await scene.stage.watch.end()
  works.push(...victim!.works)
  waits.push(...victim!.waits)
  refused.push(...victim!.refused)
  const bytes = attackers * Math.max(body.length, least)
  const [status = ''] = got.map((got) => String(got.status))
  const cost = { work: ((gateway.ran + enclave.ran) * 1_000) / (bytes / 1024), memory: gateway.peak / bytes }
  climb.came({ ...one, ...cost, status } satisfies Climbed)
  const flaws = Object.entries({ gateway, enclave }).flatMap(([name, side]) => [
    ...(side.stall > stall ? [`the ${name} stood still for ${side.stall.toFixed(0)} ms`] : []),
    ...(side.peak > times * bytes + beside ? [`the ${name} took ${(side.peak / mebibyte).toFixed(0)} MiB`] : []),
  ])
  for (const flaw of flaws) print(`${one.target.name}: ${one.spoiled.name}, ${one.size} bytes, ${one.framing}: ${flaw}`)
  if (flaws.length > 0) flawed++
}
await scene.stage.close()

print('\nthe twenty dearest bodies: µs of work for a KiB, memory for a byte, status, and what they are')
for (const { work, memory, status, target, spoiled, size, framing, bound } of climb.dearest())
  print(
    `${work.toFixed(0).padStart(7)} ${memory.toFixed(1).padStart(6)} ${status.padStart(6)}  ${target.name}: ${spoiled.name}, ${size} bytes, ${framing}, under ${bound}`,
  )
print('\nbounds: bodies just under them, and those of them that were taken')
for (const [name, under] of Object.entries(climb.covered()))
  print(`${String(under.sent).padStart(7)} ${String(under.taken).padStart(6)}  ${name}`)
const figures = (ofWork: readonly number[], ofWait: readonly number[]) =>
  `${percentile(ofWork, 0.5).toFixed(1)} and ${percentile(ofWork, 0.99).toFixed(1)} ms of work, ${percentile(ofWait, 0.5).toFixed(1)} and ${percentile(ofWait, 0.99).toFixed(1)} ms by the clock`
print(`\na victim alone waits for ${figures(alone.works, alone.waits)} (median, p99)`)
print(
  `beside three attackers for ${figures(works, waits)}; ${refused.length} of ${works.length} chats were refused: ${refused.join()}`,
)
print(`${count} bodies, ${flawed} kinds beyond the bounds, seed ${seed}`)
process.exit(flawed === 0 && refused.length === 0 && percentile(works, 0.99) <= late ? 0 : 1)
