import { type Round, above, contest, times } from './contest.ts'
import { type Load, type Measured, type Subject, measure, start } from './measure.ts'
import { type Peer, liteLlm, startPeers } from './peers.ts'
import { type Spawned, startedGateway } from './spawned.ts'
import { forgetPeak, residentOf } from './process-use.ts'
import { told, toldAbove } from './told.ts'

const key = `sk_live_${'2'.repeat(44)}`
const headers = { authorization: `Bearer ${key}` }

const turns = [
  ...Array.from({ length: 2 }, () => [
    { role: 'user', content: 'Say "words".\n'.repeat(20) },
    { role: 'assistant', content: 'word '.repeat(100) },
  ]).flat(),
  { role: 'user', content: 'Say more words, please.' },
]
const system = 'You say words and nothing else. '.repeat(10)
const shared = { temperature: 0.7, max_tokens: 512 }

/** The third turn of a conversation: some hundred bytes a message, answered with 1.5 kB. */
const completions = (stream: boolean, path = '/v1/chat/completions', model = 'bench'): Sent => ({
  path,
  body: JSON.stringify({
    model,
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
    ...shared,
    messages: [{ role: 'system', content: system }, ...turns],
  }),
})

/** The same in the dialect of Messages. */
const messages = (model: string): Sent => ({
  path: '/v1/messages',
  body: JSON.stringify({ model, stream: true, ...shared, system, messages: turns }),
})

/** The same in the dialect of Responses. */
const responses = (model: string): Sent => ({
  path: '/v1/responses',
  body: JSON.stringify({
    ...{ model, stream: true, store: false, temperature: shared.temperature, max_output_tokens: shared.max_tokens },
    ...{ instructions: system, input: turns },
  }),
})

interface Sent extends Pick<Load, 'path' | 'body'> {
  readonly headers?: Readonly<Record<string, string>>
}

const wholly = { requests: 1000, concurrency: 8 }
const streaming = { requests: 160, concurrency: 40, mark: 'word0' }

const measured = async (subject: Subject, sent: Sent, load: Omit<Load, 'path' | 'body'>): Promise<Measured> => {
  const figures = await measure(subject, { ...load, ...sent, headers: { ...headers, ...sent.headers } })
  if (figures.failed > 0) throw new Error(`${figures.failed} of ${load.requests} requests to ${sent.path} failed`)
  return figures
}

const cpu =
  (...row: Parameters<typeof measured>): Round =>
  async () =>
    (await measured(...row)).cpu

const first =
  (subject: Subject, load: Pick<Load, 'requests' | 'concurrency'>): Round =>
  async () =>
    (await measured(subject, completions(true), { ...streaming, ...load })).first

const configOf = (upstream: string) => ({
  providers: {
    openai: { use: 'openai', baseUrl: `${upstream}/v1`, apiKey: 'none' },
    anthropic: { use: 'anthropic', baseUrl: upstream, apiKey: 'none' },
    responses: { use: 'openai', baseUrl: `${upstream}/v1`, apiKey: 'none', api: 'responses' },
    slow: { use: 'openai', baseUrl: `${upstream}/slow/v1`, apiKey: 'none' },
  },
  models: {
    bench: { upstreams: [{ provider: 'openai' }] },
    messages: { upstreams: [{ provider: 'anthropic', model: 'bench' }] },
    responses: { upstreams: [{ provider: 'responses', model: 'bench' }] },
    slow: { upstreams: [{ provider: 'slow', model: 'bench' }] },
  },
})

/** What takes part in the contests. */
interface Field {
  readonly bare: Subject
  readonly koa: Subject
  /** As `npm start` runs it. */
  readonly ours: Spawned
  /** In a process of its embedder, with stores in memory and without a log. */
  readonly embedded: Subject
  readonly peers: readonly Peer[]
}

const firstToken = async ({ bare, ours }: Field): Promise<readonly string[]> => {
  const added = async (requests: number, concurrency: number) => {
    const load = { requests, concurrency }
    return (await contest(first(bare, load), { ours: first(ours, load) }, above(0.1)))['ours']!
  }
  return [
    toldAbove('first token, four streams at once', await added(40, 4), 0.3),
    toldAbove('first token of a stream alone', await added(5, 1), null),
  ]
}

/** What of the chapter is played. */
export interface ChatTerms {
  /** Names of parts; all of them where it is empty. */
  readonly parts: readonly string[]
  /** Whether gateways and proxies of others stay away. */
  readonly alone: boolean
}

/** Chat beside a bare proxy, a Koa proxy over node-fetch, and gateways and proxies of npm and pip, all before the same backend. */
export async function* chat({ parts, alone }: ChatTerms): AsyncGenerator<string> {
  const all: Readonly<Record<string, (field: Field) => Promise<readonly string[]>>> = {
    ...{ whole, streams, between, first: firstToken, crowd },
  }
  const strange = parts.filter((name) => !Object.hasOwn(all, name))
  if (strange.length > 0) throw new Error(`Chat has no part ${strange.join(', ')}: ${Object.keys(all).join(', ')}`)
  const upstream = await start('upstream')
  const env = { UPSTREAM: upstream.base, KEY: key }
  const [bare, koa, embedded] = await Promise.all([
    start('proxy-bare', env),
    start('proxy-koa', env),
    start('sealgate-chat', env),
  ])
  const ours = await startedGateway(configOf(upstream.base), key)
  const peers = alone ? [] : [...(await startPeers(upstream.base)), ...(await liteLlm(upstream.base))]
  const field = { bare, koa, ours, embedded, peers }
  try {
    for (const [name, play] of Object.entries(all))
      if (parts.length === 0 || parts.includes(name)) yield* await play(field)
  } finally {
    await Promise.all(
      [bare, koa, embedded, ours, upstream, ...peers.map(({ subject }) => subject)].map((subject) => subject.stop()),
    )
  }
}

const ofPeers = (peers: readonly Peer[], sent: Sent, load: Omit<Load, 'path' | 'body'>): Record<string, Round> =>
  Object.fromEntries(
    peers.map(({ name, subject, headers, share = 1 }) => {
      const requests = Math.max(load.concurrency, share * load.requests)
      return [name, cpu(subject, { ...sent, headers }, { ...load, requests })] as const
    }),
  )

const whole = async ({ bare, koa, ours, embedded, peers }: Field): Promise<readonly string[]> => {
  const sent = completions(false)
  const result = await contest(
    cpu(bare, sent, wholly),
    {
      started: cpu(ours, sent, wholly),
      interface: cpu(ours, completions(false, '/std/chat/completions'), wholly),
      embedded: cpu(embedded, sent, wholly),
      koa: cpu(koa, sent, wholly),
      ...ofPeers(peers, sent, wholly),
    },
    times,
  )
  return [
    told('whole answers', result['started']!, 1.3),
    told('whole answers of the interface', result['interface']!, null),
    told('whole answers, embedded with stores in memory', result['embedded']!, null),
    told('whole answers, Koa proxy', result['koa']!, null),
    ...peers.map(({ name }) => told(`whole answers, ${name}`, result[name]!, null)),
  ]
}

const streams = async ({ bare, koa, ours, embedded, peers }: Field): Promise<readonly string[]> => {
  const sent = completions(true)
  const result = await contest(
    cpu(bare, sent, streaming),
    {
      started: cpu(ours, sent, streaming),
      interface: cpu(ours, completions(true, '/std/chat/completions'), streaming),
      embedded: cpu(embedded, sent, streaming),
      koa: cpu(koa, sent, streaming),
      ...ofPeers(peers, sent, streaming),
    },
    times,
  )
  return [
    told('streams of 100 events of one dialect', result['started']!, 1.15),
    told('streams of 100 events of the interface', result['interface']!, null),
    told('streams of 100 events, embedded with stores in memory', result['embedded']!, null),
    told('streams of 100 events, Koa proxy', result['koa']!, null),
    ...peers.map(({ name }) => told(`streams of 100 events, ${name}`, result[name]!, null)),
  ]
}

const between = async ({ bare, ours }: Field): Promise<readonly string[]> => {
  const own = await contest(
    cpu(bare, messages('bench'), streaming),
    { ours: cpu(ours, messages('messages'), streaming) },
    times,
  )
  const relayed = await contest(
    cpu(bare, responses('bench'), streaming),
    { ours: cpu(ours, responses('responses'), streaming) },
    times,
  )
  const translated = await contest(
    cpu(bare, completions(true), streaming),
    { ours: cpu(ours, messages('bench'), streaming) },
    times,
  )
  return [
    told('streams of 100 events, Messages to Messages', own['ours']!, 1.15),
    told('streams of 100 events, Responses to Responses', relayed['ours']!, 1.15),
    told('streams of 100 events, Messages to chat completions', translated['ours']!, 1.45),
  ]
}

const many = 2000
/** Bytes that the process of the gateway may hold with so many streams. */
const mostResident = 250e6

/** Streams of ten seconds, all open at once; then what whole answers leave behind. */
const crowd = async ({ ours }: Field): Promise<readonly string[]> => {
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
  const idle = residentOf(ours.pid)
  forgetPeak(ours.pid)
  const sent = { ...completions(true, undefined, 'slow'), headers, requests: many, concurrency: many }
  const { failed } = await measure(ours, sent)
  const peak = residentOf(ours.pid, 'VmHWM')
  await measured(ours, completions(false), { ...wholly, requests: 2000 })
  const before = residentOf(ours.pid)
  await measured(ours, completions(false), { ...wholly, requests: 20_000 })
  const more = residentOf(ours.pid) - before
  const beyond = peak > mostResident ? ', BEYOND' : ''
  return [
    `${many} streams at once: ${many - failed} clean; ${mb(peak)} resident at most (at most ${mb(mostResident)}${beyond}), ${mb(idle)} before`,
    `memory after 20,000 more requests: ${mb(more)} more`,
  ]
}
