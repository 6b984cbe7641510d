import { members, repeatedIn } from '../lab/hunt/bodies.ts'
import { childrenOf, spentBy } from '../lab/hunt/processes.ts'
import { keyAt, sealedFor } from '../lab/hunt/sealing.ts'
import type { Stage } from '../lab/hunt/stage.ts'
import { slowness } from '../slowness.ts'
import { inTinyChunks, post } from './attacks.ts'
import { clientOf } from './lanes.ts'
import { type Figure, type Scene, mebibyte } from './scene.ts'

export const unknownKeys = members(95_000).toString()
export const conversation = '"model":"chatting","max_tokens":5,"messages":[{"role":"user","content":"a"}]'

const chat = '/std/chat/completions'
const hello = Buffer.from(`{${conversation}}`)
const attackers = 3
/** Ms of a victim alone, and beside its attackers. */
const [quietMs, loudMs] = [1_000, 3_000]
/** Ms of work by which a victim's answer may be later than alone, where three times alone is less. */
const later = 50

/** What an attacker sends once; resolves when it is answered or cut. */
type Attack = (stage: Stage) => Promise<unknown>
/** What a victim does once. */
type Visit = () => Promise<unknown>

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Infinity
}

/**
 * Ms that the busiest main thread of gateway, workers and enclave worked in each visit, for so long. They work side by
 * side, and other work of a busy machine is no part of it.
 */
const visited = async ({ pids }: Stage, visit: Visit, ms: number): Promise<readonly number[]> => {
  const all = [pids.gateway, ...childrenOf(pids.gateway)]
  const spent = () => all.map(spentBy)
  const works: number[] = []
  for (const end = performance.now() + ms; performance.now() < end || works.length < 10;) {
    const before = spent()
    await visit()
    works.push(Math.max(...spent().map((ms, at) => ms - before[at]!)))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return works
}

const beside = (name: string, visitor: (stage: Stage) => Promise<Visit>, attack: Attack): Scene => ({
  name: `${name}, beside ${attackers} attackers`,
  short: true,
  memory: 512 * mebibyte,
  async play(stage) {
    const before = slowness()
    const visit = await visitor(stage)
    await visited(stage, visit, 500)
    const alone = percentile(await visited(stage, visit, quietMs), 0.99)
    let isOver = false
    const attacking = Array.from({ length: attackers }, async () => {
      while (!isOver) await attack(stage)
    })
    const works = await visited(stage, visit, loudMs)
    // The attackers share the machine too.
    const busy = Math.max(before, slowness())
    isOver = true
    await Promise.all(attacking)
    const most = Math.max(3 * alone, alone + later * Math.max(busy, slowness()))
    const figure: Figure = {
      name: `ms of work that a victim waits for, p99 (alone ${alone.toFixed(1)})`,
      value: percentile(works, 0.99),
      most,
    }
    return { sent: 0, figures: [figure] }
  },
})

const chatting = async (stage: Stage): Promise<Visit> => {
  const key = await stage.keyOf('quiet')
  return async () => {
    const { status } = await post(stage, chat, hello, key)
    if (status !== 200) throw new Error(`A victim gets ${status}`)
  }
}

const sealedTime = async (stage: Stage): Promise<Visit> => {
  const client = clientOf(stage.base, await stage.keyOf('quiet'))
  return () => client.tools.call('getTime', { timezone: 'UTC' })
}

const bodies: Readonly<Record<string, Buffer>> = {
  'unknown keys': Buffer.from(`{${conversation},"more":{${unknownKeys}}}`),
  'objects of 4,000 keys': Buffer.from(
    `{${conversation},"more":[${Array(24)
      .fill(`{${members(4_000)}}`)
      .join()}]}`,
  ),
  'one text of 8 MB': repeatedIn('{"model":"chatting","messages":[{"role":"user","content":"', 'a', '"}]}', 8_000_000),
  'empty messages': repeatedIn('{"model":"chatting","messages":[', '{},', '{}]}', 2_000_000),
}

/** A chat, and a sealed call, of somebody else while three attackers send the same again and again. */
export const victims: readonly Scene[] = [
  ...Object.entries(bodies).map(([name, body]) =>
    beside(`a chat with ${name}`, chatting, (stage) => post(stage, chat, body)),
  ),
  beside('a chat in chunks of one byte', chatting, (stage) => inTinyChunks(stage, chat, 500_000)),
  beside('embeddings of 90,000 tokens', chatting, (stage) =>
    post(stage, '/v1/embeddings', repeatedIn('{"model":"embedding","input":[', '1,', '1]}', 180_000)),
  ),
  beside('a sealed chat with unknown keys', sealedTime, async (stage) => {
    const envelope = { params: 'encryptedInference', parts: {}, beside: {} }
    const key = await keyAt(stage.base, stage.key)
    return post(stage, '/rvenc/chat/completions', sealedFor(key, bodies['unknown keys'] ?? hello, envelope).body)
  }),
]
