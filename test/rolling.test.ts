import './fakes/unwatched.ts'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type ServerResponse, createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { connect } from '../plugins/sealed/client/client.ts'
import { balancer } from './fakes/balancer.ts'
import { listening } from './fakes/listening.ts'
import { startPostgres } from './fakes/postgres.ts'
import { startRedis } from './fakes/redis.ts'
import { enclosed, served } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'

const [redis, postgres] = [await startRedis({ steer: true }), await startPostgres({ steer: true })]
t.teardown(() => Promise.all([redis?.close(), postgres?.close()]))
const skip = (redis === null || postgres === null) && 'no redis-server or no PostgreSQL here'

const words = 20
const pace = 120
/** Streams at once: a sample of them by day. */
const wide = isWhole ? { open: 8, sealed: 6 } : { open: 5, sealed: 4 }

/** A provider whose streams take two and a half seconds. */
const slow = async (t: Test): Promise<string> => {
  const chunk = (content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
  const stream = async (response: ServerResponse): Promise<void> => {
    response.setHeader('content-type', 'text/event-stream')
    for (let word = 0; word < words && !response.destroyed; word++, await sleep(pace))
      response.write(chunk(`w${word} `))
    response.end(`${chunk('', 'stop')}data: [DONE]\n\n`)
  }
  const server = createServer((request, response) => void text(request).then(() => stream(response)))
  return `http://127.0.0.1:${(await listening(t, server, '127.0.0.1')).port}/v1`
}

const whole = Array.from({ length: words }, (_, word) => `w${word} `).join('')
const question = [{ role: 'user' as const, content: 'Count' }]

t.test('every replica is replaced while streams run', { skip }, async (t) => {
  const baseUrl = await slow(t)
  const folder = await folderOf(t)
  const key = `sk_live_${'6'.repeat(44)}`
  const providers = { slow: { use: 'openai', baseUrl, apiKey: 'x' } }
  const upstreams = [{ provider: 'slow' }]
  const confidential = { confidential: true, standard: false, upstreams }
  const sockets = ['a', 'b'].map((name) => join(folder, `${name}.sock`))
  const free = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null }
  const gatewayFile = join(folder, 'gateway.json')
  await writeFile(
    gatewayFile,
    JSON.stringify({
      providers,
      models: { open: { upstreams }, secret: confidential },
      storage: { metadata: { use: 'postgres', url: postgres!.url } },
      limits: { redis: redis!.url, patience: 2000, key: free, organization: free },
      enclave: { connect: sockets },
      server: { linger: 1000, drain: 30_000 },
    }),
  )
  const env = { SEALGATE_CONFIG: gatewayFile, SEALGATE_KEY: key, SEALGATE_DATA: join(folder, 'data') }

  const gateway = async () => {
    const server = await served(env)
    t.teardown(() => server.child.kill('SIGKILL'))
    return server
  }
  const enclave = async (socket: string): Promise<ChildProcess> => {
    const file = `${socket}.json`
    await writeFile(file, JSON.stringify({ providers, models: { secret: confidential }, enclave: { listen: socket } }))
    const child = await enclosed({ SEALGATE_CONFIG: file })
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }

  const enclaves = [await enclave(sockets[0]!), await enclave(sockets[1]!)]
  const gateways = [await gateway(), await gateway()]
  const front = await balancer(t)
  for (const { base } of gateways) front.add(base)
  while (front.ready() < 2) await sleep(20)

  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const flaws: string[] = []
  const counts = { open: 0, sealed: 0 }
  let rolling = true

  const standard = async (): Promise<string> => {
    const body = JSON.stringify({ model: 'open', stream: true, messages: question })
    const answer = await fetch(`${front.base}/std/chat/completions`, { method: 'POST', headers, body })
    const text = await answer.text()
    if (answer.status !== 200) return `${answer.status}`
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'))
    const heard = events.map((event) => JSON.parse(event.slice(6)).choices?.[0]?.delta.content ?? '').join('')
    return heard === whole && text.endsWith('data: [DONE]\n\n') ? 'fine' : `cut after ${heard.length}`
  }
  const sealed = (apiKey: string) => {
    const client = connect({ baseUrl: front.base, apiKey, policy: { allowInsecureDev: true } })
    return async (): Promise<string> => {
      let heard = ''
      const stream = await client.chat.completions.create({ model: 'secret', stream: true, messages: question })
      for await (const { choices } of stream) heard += choices[0]?.delta.content ?? ''
      return heard === whole ? 'fine' : `cut after ${heard.length}`
    }
  }
  const going = async (kind: keyof typeof counts, ask: () => Promise<string>) => {
    while (rolling) {
      const came = await ask().catch((error: Error) => `${error.message} ${String((error.cause as Error) ?? '')}`)
      counts[kind]++
      if (came !== 'fine') flaws.push(`${kind}: ${came}`)
    }
  }

  const credential = async () => {
    const made = await fetch(`${front.base}/admin/keys`, { method: 'POST', headers, body: '{"name":"more"}' })
    return ((await made.json()) as { data: { key: string } }).data.key
  }
  const credentials = await Promise.all(Array.from({ length: wide.sealed }, credential))
  const load = [
    ...Array.from({ length: wide.open }, () => going('open', standard)),
    ...credentials.map((apiKey) => going('sealed', sealed(apiKey))),
  ]
  await sleep(1000)

  const newer = new pg.Client({ connectionString: postgres!.url })
  await newer.connect()
  await newer.query(
    `alter table sealgate.rows add column next text default 'x'; insert into sealgate.steps values (1000)`,
  )
  await newer.end()

  const bases: string[] = []
  const hasKeys = async (name: string): Promise<boolean> => {
    const answers = bases.map((base) => fetch(`${base}/rvenc/keys?enclave=${name}`, { headers }))
    return (await Promise.all(answers)).every(({ status }) => status === 200)
  }
  for (const old of gateways) {
    const next = await gateway()
    bases.push(next.base)
    front.add(next.base)
    while (front.ready() < 3) await sleep(20)
    t.equal(await old.stop('SIGTERM'), 0, 'a gateway has ended')
  }
  for (const [at, old] of enclaves.entries()) {
    old.kill('SIGTERM')
    t.same(await once(old, 'exit'), [0, null], 'an enclave has ended')
    await enclave(sockets[at]!)
    t.ok(await until(() => hasKeys(`e${at}`), 30_000, 100), 'the gateways see the new enclave')
  }
  await sleep(1000)
  rolling = false
  await Promise.all(load)
  t.same(flaws, [], 'no failed and no cut stream')
  t.ok(
    counts.open > 4 * wide.open && counts.sealed > 2 * wide.sealed,
    `of ${counts.open} open and ${counts.sealed} sealed ones`,
  )
  t.comment(`${counts.open} open and ${counts.sealed} sealed streams, ${flaws.length} failed`)
})
