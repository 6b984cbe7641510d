import { type Round, above, contest, times } from './contest.ts'
import { type Load, type Measured, type Subject, measure, start } from './measure.ts'
import { type Rival, portkey } from './portkey.ts'
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
const completions = (stream: boolean, path = '/v1/chat/completions'): Sent => ({
  path,
  body: JSON.stringify({
    model: 'bench',
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

interface Sent extends Pick<Load, 'path' | 'body'> {
  readonly headers?: Readonly<Record<string, string>>
}

const wholly = { requests: 600, concurrency: 8 }
const streaming = { requests: 80, concurrency: 20, mark: 'word0' }

const measured = async (subject: Subject, sent: Sent, load: Omit<Load, 'path' | 'body'>): Promise<Measured> => {
  const it = await measure(subject, { ...load, ...sent, headers: { ...headers, ...sent.headers } })
  if (it.failed > 0) throw new Error(`${it.failed} of ${load.requests} requests to ${sent.path} failed`)
  return it
}

const cpu =
  (...it: Parameters<typeof measured>): Round =>
  async () =>
    (await measured(...it)).cpu

const first =
  (subject: Subject): Round =>
  async () =>
    (await measured(subject, completions(true), { ...streaming, requests: 25, concurrency: 1 })).first

/** Chat beside a bare proxy, a Koa proxy over node-fetch and Portkey's gateway, all before the same backend. */
export async function* chat(): AsyncGenerator<string> {
  const upstream = await start('upstream')
  const env = { UPSTREAM: upstream.base, KEY: key }
  const [bare, koa, ours] = await Promise.all([
    start('proxy-bare', env),
    start('proxy-koa', env),
    start('sealgate-chat', env),
  ])
  const rival = await portkey(upstream.base)
  try {
    yield* await whole(bare, koa, ours, rival)
    yield* await streams(bare, koa, ours, rival)
    yield* await between(bare, ours)
    const added = await contest(first(bare), { ours: first(ours) }, above(0.1))
    yield toldAbove('first token', added['ours']!, 0.3)
    yield* await crowd(ours)
  } finally {
    await Promise.all([bare, koa, ours, upstream, ...(rival ? [rival.subject] : [])].map((it) => it.stop()))
  }
}

const whole = async (bare: Subject, koa: Subject, ours: Subject, rival: Rival | null): Promise<readonly string[]> => {
  const sent = completions(false)
  const it = await contest(
    cpu(bare, sent, wholly),
    {
      ours: cpu(ours, completions(false, '/std/chat/completions'), wholly),
      koa: cpu(koa, sent, wholly),
      ...(rival && { rival: cpu(rival.subject, { ...sent, headers: rival.headers }, wholly) }),
    },
    times,
  )
  return [
    told('whole answers', it['ours']!, 1.3),
    told('whole answers, Koa proxy', it['koa']!, null),
    ...(rival ? [told('whole answers, Portkey', it['rival']!, null)] : []),
  ]
}

const streams = async (bare: Subject, koa: Subject, ours: Subject, rival: Rival | null): Promise<readonly string[]> => {
  const sent = completions(true)
  const it = await contest(
    cpu(bare, sent, streaming),
    {
      relayed: cpu(ours, sent, streaming),
      interface: cpu(ours, completions(true, '/std/chat/completions'), streaming),
      koa: cpu(koa, sent, streaming),
      ...(rival && { rival: cpu(rival.subject, { ...sent, headers: rival.headers }, streaming) }),
    },
    times,
  )
  return [
    told('streams of 100 events of one dialect', it['relayed']!, 1.25),
    told('streams of 100 events of the interface', it['interface']!, null),
    told('streams of 100 events, Koa proxy', it['koa']!, null),
    ...(rival ? [told('streams of 100 events, Portkey', it['rival']!, null)] : []),
  ]
}

const between = async (bare: Subject, ours: Subject): Promise<readonly string[]> => {
  const own = await contest(
    cpu(bare, messages('bench'), streaming),
    { ours: cpu(ours, messages('messages'), streaming) },
    times,
  )
  const translated = await contest(
    cpu(bare, completions(true), streaming),
    { ours: cpu(ours, messages('bench'), streaming) },
    times,
  )
  return [
    told('streams of 100 events, Messages to Messages', own['ours']!, 1.25),
    told('streams of 100 events, Messages to chat completions', translated['ours']!, 1.45),
  ]
}

const crowd = async (ours: Subject): Promise<readonly string[]> => {
  const many = 500
  const { failed } = await measure(ours, {
    ...completions(true),
    headers,
    requests: many,
    concurrency: many,
  })
  await measured(ours, completions(false), { ...wholly, requests: 2000 })
  const before = await ours.memory()
  await measured(ours, completions(false), { ...wholly, requests: 10_000 })
  const after = await ours.memory()
  return [
    `${many} streams at once: ${many - failed} clean`,
    `memory after 10,000 more requests: ${((after - before) / 1048576).toFixed(1)} MB more`,
  ]
}
