import { createClient } from '@keyv/redis'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Acknowledged, digestOf } from './families.ts'
import type { Answer } from './load.ts'
import { usage as each } from './provider.ts'

type Ask = (path: string) => Promise<Response>

const asking =
  (base: string, key: string): Ask =>
  (path) =>
    fetch(base + path, { headers: { authorization: `Bearer ${key}` } })

export interface FilesLeft {
  readonly acknowledged: number
  /** Acknowledged and not listed, or with other bytes. */
  readonly lost: number
  /** Listed without all of their bytes. */
  readonly hollow: number
}

export const filesLeft = async (base: string, key: string, acknowledged: Acknowledged): Promise<FilesLeft> => {
  const ask = asking(base, key)
  const wanted = new Map(acknowledged)
  let [lost, hollow] = [0, 0]
  for (let offset = 0; ;) {
    const { data } = (await (await ask(`/files/encrypted?limit=100&offset=${offset}`)).json()) as {
      data: { files: { id: string; file_size: number }[] }
    }
    if (data.files.length === 0) return { acknowledged: acknowledged.size, lost: lost + wanted.size, hollow }
    for (const { id, file_size } of data.files) {
      const answer = await ask(`/files/encrypted/${id}/content`)
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status !== 200 || bytes.length !== file_size) hollow++
      const digest = wanted.get(id)
      wanted.delete(id)
      if (digest !== undefined && digestOf(bytes) !== digest) lost++
    }
    offset += data.files.length
  }
}

export interface UsageLeft {
  /** Calls of a model that were answered whole, as the clients saw it. */
  readonly acknowledged: number
  /** The same as the usage has it, and as its tokens have it. */
  readonly counted: number
  readonly byTokens: number
}

const metered = new Set(['chat', 'stream', 'decision', 'sealed'])

/** Waits a little for what is written once a second. */
export const usageLeft = async (base: string, key: string, answers: readonly Answer[]): Promise<UsageLeft> => {
  const acknowledged = answers.filter(({ family, code }) => metered.has(family) && code === 200).length
  for (let tries = 0; ; tries++) {
    const { data } = (await (await asking(base, key)('/admin/usage?limit=100')).json()) as {
      data: { usage: { requests: number; unanswered: number; input: number }[] }
    }
    const sum = (of: (row: (typeof data.usage)[number]) => number) =>
      data.usage.reduce((all, value) => all + of(value), 0)
    const counted = sum(({ requests, unanswered }) => requests - unanswered)
    const byTokens = sum(({ input }) => input) / each.prompt_tokens
    if ((counted >= acknowledged && byTokens >= acknowledged) || tries === 20)
      return { acknowledged, counted, byTokens }
    await sleep(250)
  }
}

/** Places that are held in Redis, once those that could not be given back are over by themselves. */
export const placesLeft = async (url: string): Promise<number> => {
  const client = createClient({ url })
  await client.connect()
  try {
    for (const until = performance.now() + lease; ; await sleep(250)) {
      const names = await client.keys('sealgate:places:*')
      const held = await Promise.all(names.map((name) => client.zCount(name, Date.now(), '+inf')))
      const all = held.reduce((sum, value) => sum + value, 0)
      if (all === 0 || performance.now() > until) return all
    }
  } finally {
    client.destroy()
  }
}

const lease = 31_000

/** Requests under way, but for the one that asks. */
export const requestsLeft = async (base: string, key: string): Promise<number> => {
  const metrics = await (await asking(base, key)('/metrics')).text()
  return Number(/^sealgate_requests_active (\d+)$/m.exec(metrics)?.[1]) - 1
}
