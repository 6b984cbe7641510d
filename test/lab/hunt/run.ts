import { writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { type Catch, bounds, flawsOf } from './judge.ts'
import { type Planned, planned } from './plan.ts'
import { linesOf, printed } from './report.ts'
import { sealedFor, keyAt } from './sealing.ts'
import { send } from './send.ts'
import { type Stage, openStage } from './stage.ts'
import { targets } from './targets.ts'

/** `npm run hunt`: bodies made from every route's own schema, and what each of them does to gateway and enclave. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    sample: { type: 'string' },
    least: { type: 'string', default: '20000' },
    /** Targets whose name has this in it. */
    only: { type: 'string', default: '' },
    /** Bytes of the largest bodies. */
    most: { type: 'string', default: 'Infinity' },
    stall: { type: 'string', default: String(bounds.stall) },
    json: { type: 'string' },
  },
})
const sample = values.sample === undefined ? null : Number(values.sample)
const held = { ...bounds, stall: Number(values.stall) }
const print = (line: string) => process.stdout.write(`${line}\n`)

const all = (await targets()).filter(({ name }) => name.includes(values.only))
const [seed, least, most] = [values.seed, values.least, values.most].map(Number) as [number, number, number]
const plan = planned(all, { seed, least, sample, most })

/** A stage with what all bodies need: a key of the enclave, and a key that may be changed. */
const set = async () => {
  const stage = await openStage()
  const headers = { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' }
  const made = await fetch(`${stage.base}/admin/keys`, { method: 'POST', headers, body: '{}' })
  const { data } = (await made.json()) as { readonly data: { readonly id: string } }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return { stage, agent, spare: data.id, enclaveKey: await keyAt(stage.base, stage.key) }
}

const exactly = (bytes: Buffer, size: number): Buffer =>
  bytes.length >= size ? bytes : Buffer.concat([bytes, Buffer.alloc(size - bytes.length, ' ')])

const hunted = async (
  { stage, agent, spare, enclaveKey }: Awaited<ReturnType<typeof set>>,
  attempt: Planned,
): Promise<Catch> => {
  const { target, spoiled, size } = attempt
  const plain = spoiled.text(size)
  // Beyond its limit a body is as long as it says.
  const text = size > target.limit ? exactly(plain, size) : plain
  const body = target.envelope === null ? text : sealedFor(enclaveKey, text, target.envelope).body
  const headers = { authorization: `Bearer ${stage.key}`, 'content-type': target.type }
  await stage.watch.begin()
  const got = await send(agent, stage.base + target.path.replace('{key}', spare), {
    method: target.method,
    headers,
    body,
  })
  const watched = await stage.watch.end()
  return {
    ...attempt,
    status: got.status,
    sent: body.length,
    watched,
    flaws: flawsOf(attempt, got, body.length, watched, held),
  }
}

const restarted = (stage: Stage): readonly string[] => {
  const fallen = stage.fallen()
  return fallen === null ? [] : [`the ${fallen} ended`]
}

let on = await set()
const caught: Catch[] = []
print(`${plan.length} bodies for ${all.length} targets, seed ${values.seed}`)
for (const attempt of plan) {
  const one = await hunted(on, attempt)
  const ended = restarted(on.stage)
  const flaws = [...one.flaws, ...ended]
  caught.push({ ...one, flaws })
  for (const flaw of flaws) print(`${attempt.target.name}: ${attempt.spoiled.name}, ${attempt.size} bytes: ${flaw}`)
  if (ended.length > 0) {
    await on.stage.close()
    on = await set()
  }
}
await on.stage.close()

const lines = linesOf(caught)
printed(lines).forEach(print)
const flawed = caught.filter(({ flaws }) => flaws.length > 0).length
const judged = lines.reduce((sum, line) => sum + line.judged, 0)
print(
  `${caught.length} bodies, ${judged} judged by their route, ${flawed} beyond the bounds: a stall of ${held.stall} ms, memory of ${held.times} times the body and ${held.beside >> 20} MiB`,
)
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ bounds: held, lines }, null, 2)}\n`)
process.exit(flawed === 0 ? 0 : 1)
