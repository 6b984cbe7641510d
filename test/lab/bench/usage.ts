import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { log, random, system } from '../../../adapters/memory/platform.ts'
import type { Fitting } from '../../../core/container.ts'
import { dayAfter } from '../../../plugins/usage/spans.ts'
import { foldCursor } from '../../../plugins/usage/late-days.ts'
import { UsageSums, usageSums } from '../../../plugins/usage/usage-sums.ts'
import { plugin, use } from '../../../core/plugin.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Clock } from '../../../core/ports/platform.ts'
import postgres from '../../../plugins/storage/postgres.ts'
import sqlite from '../../../plugins/storage/sqlite.ts'
import { startPostgres } from '../../fakes/postgres.ts'
import { type Served, program, served } from '../../fakes/served.ts'
import { fitted } from '../../fitted.ts'
import { start } from './measure.ts'
import { calling, paced } from './pace.ts'
import { fillPostgres, fillSqlite, organizations } from './usage-rows.ts'

const rows = Number(process.env['SEALGATE_ROWS'] ?? 5_000_000)
const rounds = 5
const perSecond = Number(process.env['SEALGATE_RATE'] ?? 200)
const seconds = Number(process.env['SEALGATE_SECONDS'] ?? 10)
const operators = 50
/** The stores that are asked, each on its own. */
const stores = (process.env['SEALGATE_STORES'] ?? 'sqlite,postgres').split(',')
/** Ms between an operator's answer and the next question. */
const thinkMs = 1_000

const key = `sk_live_${'3'.repeat(44)}`
const body = JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say "words".\n'.repeat(40) }] })

/** The 99th percentile of serving while operators ask for a year of usage over millions of rows, beside that of serving alone. */
export async function* usage(): AsyncGenerator<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-usage-'))
  const upstream = await start('upstream')
  try {
    if (stores.includes('sqlite')) {
      const file = join(folder, 'rows.db')
      const began = performance.now()
      await fillSqlite(file, rows)
      yield* compared('sqlite', began, folder, upstream.base, { use: 'sqlite', file }, use(sqlite, { file }))
      await rm(file, { force: true })
    }
    if (!stores.includes('postgres')) return
    const server = await startPostgres({ steer: true })
    if (server === null) return yield 'there is no PostgreSQL'
    try {
      const began = performance.now()
      await fillPostgres(server.url, use(postgres, { url: server.url }), rows)
      const choice = { use: 'postgres', url: server.url }
      yield* compared('postgres', began, folder, upstream.base, choice, use(postgres, { url: server.url }))
    } finally {
      await server.close()
    }
  } finally {
    await upstream.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function* compared(
  name: string,
  began: number,
  folder: string,
  backend: string,
  choice: object,
  store: Fitting<MetadataStore>,
): AsyncGenerator<string> {
  const filled = performance.now()
  await sumsOf(store)
  const inSeconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`
  yield `${name}: ${rows} rows made in ${inSeconds(filled - began)}, their sums in ${inSeconds(performance.now() - filled)}`
  const server = await serving(join(folder, name), backend, choice)
  try {
    await p99(server.base, null)
    const pairs: { readonly alone: number; readonly beside: number }[] = []
    const asked: Asked = { answers: [], refused: 0 }
    for (let at = 0; at < rounds; at++) {
      const turns = at % 2 === 0 ? [null, asked] : [asked, null]
      const [one, other] = [await p99(server.base, turns[0]!), await p99(server.base, turns[1]!)]
      pairs.push(at % 2 === 0 ? { alone: one, beside: other } : { alone: other, beside: one })
    }
    const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!
    const ratio = median(pairs.map(({ alone, beside }) => beside / alone))
    const more = median(pairs.map(({ alone, beside }) => beside - alone))
    const kept = ratio <= 1.3 || more <= 5 ? 'kept' : 'NOT kept'
    const each = pairs.map(({ alone, beside }) => `${alone.toFixed(1)}/${beside.toFixed(1)}`).join(' ')
    yield `${name}: p99 beside ${operators} operators ${ratio.toFixed(2)} times that alone, ${more.toFixed(1)} ms more (at most 1.3 times or 5 ms): ${kept}; ms alone/beside ${each}`
    const { answers, refused } = asked
    yield `${name}: ${answers.length} answers to operators, median ${median(answers).toFixed(0)} ms, longest ${Math.max(...answers).toFixed(0)} ms; ${refused} times 503`
  } finally {
    await server.stop('SIGTERM')
  }
}

/** Looks for work at once, where a gateway waits for half a minute. */
const hurried = plugin({
  port: Clock,
  name: 'clock',
  create: (): Clock => ({ ...system.clock, alarm: (ms, ring) => system.clock.alarm(Math.min(ms, 100), ring) }),
})

/** Lets the sums be made as a gateway does in the background, until yesterday. */
const sumsOf = async (store: Fitting<MetadataStore>): Promise<void> => {
  const parts = fitted(store, use(usageSums), use(hurried), use(random), use(log))
  const { rows } = parts.supply({ sums: UsageSums, rows: MetadataStore })
  const yesterday = dayAfter(new Date().toISOString().slice(0, 10), -1)
  while ((await foldCursor(rows))?.day !== yesterday) await sleep(500)
  await parts.dispose()
}

const serving = async (data: string, base: string, metadata: object): Promise<Served> => {
  const free = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null, tokensPerDay: null }
  const file = `${data}.json`
  await writeFile(
    file,
    JSON.stringify({
      providers: { bench: { use: 'openai', baseUrl: `${base}/v1`, apiKey: 'none' } },
      models: { bench: { upstreams: [{ provider: 'bench' }] } },
      storage: { metadata },
      limits: { key: free, organization: free },
      log: { level: 'error' },
      // Nothing here is sealed, so nobody is started for it.
      enclave: { connect: [`${data}.sock`] },
    }),
  )
  const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: data, SEALGATE_KEY: key, NODE_ENV: 'production' }
  return served(env, program, ['serve'])
}

interface Asked {
  /** Ms of each answer. */
  readonly answers: number[]
  refused: number
}

/** Ms of serving at a steady rate, with operators beside it unless there are none. */
const p99 = async (base: string, asked: Asked | null): Promise<number> => {
  const times: number[] = []
  const { call, close } = calling(`${base}/std/chat/completions`, key, body)
  const timed = async () => {
    const began = performance.now()
    await call()
    times.push(performance.now() - began)
  }
  const over = new AbortController()
  const all =
    asked && Promise.all(Array.from({ length: operators }, (_, nth) => operator(base, nth, asked, over.signal)))
  await paced(timed, perSecond, perSecond * seconds)
  over.abort()
  close()
  await all
  times.sort((a, b) => a - b)
  return times[Math.floor((times.length - 1) * 0.99)]!
}

const groupings = ['day', 'model', 'key', 'user', 'team', 'organization', 'backend', 'tag']

/** Asks for the last year again and again: of its own organisation, and every fifth one of all. */
const operator = async (base: string, nth: number, asked: Asked, over: AbortSignal): Promise<void> => {
  const to = new Date().toISOString().slice(0, 10)
  const organization = nth % 5 === 0 ? '*' : `org-${nth % organizations}`
  await sleep((thinkMs * nth) / operators)
  for (let turn = nth; !over.aborted; turn++) {
    const by = groupings[turn % groupings.length]!
    const query = new URLSearchParams({ by, organization, from: dayAfter(to, -364), to, limit: '100' })
    const began = performance.now()
    const status = await statusOf(`${base}/admin/usage/sums?${query}`)
    if (status === 200) asked.answers.push(performance.now() - began)
    else if (status === 503) asked.refused++
    else throw new Error(`An operator was answered with ${status}`)
    await sleep(thinkMs)
  }
}

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers: { authorization: `Bearer ${key}` }, agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.once('error', reject).end()
  })
