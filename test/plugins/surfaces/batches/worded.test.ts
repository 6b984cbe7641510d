import t from 'tap'
import type { Pace } from '../../../../core/dialects/loop-time.ts'
import type { Given } from '../../../../plugins/surfaces/batches/needs.ts'
import { type Wording, wordedRequests } from '../../../../plugins/surfaces/batches/worded.ts'

const talk = {
  name: 'talk',
  does: new Set(['chat']),
  settings: { standard: true },
  candidates: [{ provider: 'vendor', upstream: { batches: { dialect: 'words' } } }],
}

const given = {
  catalog: { find: async () => talk },
  filters: [],
  settings: { bodies: { elements: 100_000, members: 4_096 } },
} as unknown as Given

const wording: Wording = {
  ...{ dialect: 'words', noun: 'line' },
  read: (value) => ({ model: 'talk', ability: 'chat', endpoint: null, print: () => JSON.stringify(value) }),
}

const caller = { organization: 'ours', models: null } as never

const { signal } = new AbortController()

async function* entries(count: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at++) yield Buffer.from(`{"at":${at}}`)
}

t.test('what reading the requests of a batch takes is booked to their sender', async (t) => {
  const booked: number[] = []
  const pace: Pace = {
    spend(ns) {
      booked.push(ns)
      return null
    },
  }
  const { texts, chosen } = wordedRequests(given, { caller, pace, signal }, wording)
  const printed: string[] = []
  for await (const text of texts(entries(100))) printed.push(text)
  t.equal(printed.length, 100)
  t.equal(chosen()?.candidate.provider, 'vendor')
  t.equal(booked.length, 100, 'each request by itself')
  t.ok(
    booked.every((ns) => ns > 1_000),
    'by its bytes and its members',
  )
})

t.test('requests of a sender who owes time wait for their turns', async (t) => {
  let turns = 0
  const pace: Pace = { spend: () => new Promise((resolve) => setImmediate(() => resolve(void turns++))) }
  const { texts } = wordedRequests(given, { caller, pace, signal }, wording)
  for await (const text of texts(entries(20))) t.ok(turns > 0, text)
  t.equal(turns, 20)
})
