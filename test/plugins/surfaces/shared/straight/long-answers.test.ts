import '../../../../fakes/unwatched.ts'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { UpstreamFailed } from '../../../../../core/errors.ts'
import { plugin, use } from '../../../../../core/plugin.ts'
import { Observer } from '../../../../../core/ports/observer.ts'
import type { AnswerLine, AnswerReader } from '../../../../../core/ports/platform.ts'
import { type ChatCall, type Whole, Upstream } from '../../../../../core/ports/upstream.ts'
import anthropic from '../../../../../plugins/providers/anthropic.ts'
import gemini from '../../../../../plugins/providers/gemini.ts'
import openai from '../../../../../plugins/providers/openai.ts'
import { wholeChat } from '../../../../../plugins/surfaces/shared/answering.ts'
import { messageOf } from '../../../../../plugins/shared/dialects/messages/answer.ts'
import { type Running, environments, running, unhurried } from '../../../../environments.ts'
import { backend, provided, vector } from '../../../../contracts/stage.ts'
import { json } from '../../../../fakes/vendor.ts'
import { turnsDuring } from '../../../../turns-during.ts'
import { until } from '../../../../until.ts'

const production = environments['production']!

const call: ChatCall = { model: 'm', stream: false, body: { messages: [{ role: 'user', content: 'Hi' }] } }
const words = 'A word, and "é" 😀. '.repeat(80_000)
const printedWords = JSON.stringify(words).slice(1, -1)

/** A recorded answer, whose text has 1.9 MB. */
const lengthened = async (recording: string): Promise<string> => {
  const answer = (await vector(recording)).toString()
  const long = answer.replace(/("(?:content|text)"\s*:\s*)"(?:[^"\\]|\\.)+"/, (_, name) => name + JSON.stringify(words))
  if (long.length < words.length) throw new Error(`No text in ${recording}`)
  return long
}

t.test('a long whole answer is read in turns of the loop', async (t) => {
  for (const [provider, recording, dialect] of [
    [openai, 'openai/chat.json', null],
    [anthropic, 'anthropic/chat.json', null],
    [anthropic, 'anthropic/chat.json', 'messages'],
  ] as const) {
    const upstream = await provided(t, provider as typeof openai, { apiKey: 'k', baseUrl: 'http://127.0.0.1:9' })
    const native = dialect && { dialect, body: { messages: [], input: 'Hi', max_tokens: 1 }, headers: {} }
    const wire = upstream.wire!({ ...call, ...(native && { native }) })!
    const bytes = Buffer.from(await lengthened(recording))
    const turns = await turnsDuring(async () => {
      const { completion } = await wire.whole(bytes, 200)
      t.equal(completion.choices[0]!.message.content, words)
    })
    t.ok(turns > 5, `${turns} turns: ${recording} ${dialect}`)
  }
})

const longCompletion = (): Whole['completion'] => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: words }, finish_reason: 'stop' }],
})

t.test('a long whole answer is printed in turns of the loop', async (t) => {
  const completion = longCompletion()
  const answers: Readonly<Record<string, () => ReturnType<typeof wholeChat>>> = {
    'that was changed': () => wholeChat({ kind: 'completion', completion }, 'ours'),
    'as the backend words it': () =>
      wholeChat({ kind: 'completion', completion, text: JSON.stringify(completion) }, 'ours'),
  }
  for (const [name, print] of Object.entries(answers)) {
    const turns = await turnsDuring(async () => {
      const { model, choices } = JSON.parse(Buffer.from(await print()).toString())
      t.match({ model, choices }, { model: 'ours', choices: [{ message: { content: words, refusal: null } }] })
    })
    t.ok(turns > 5, `${turns} turns: an answer ${name}`)
  }
  t.match(messageOf(completion, 'ours', null as never), { model: 'ours', content: [{ type: 'text', text: words }] })
})

t.test('each door gives a long answer, straight and by the long way', { timeout: 60_000 }, async (t) => {
  const answers = {
    openai: await lengthened('openai/chat.json'),
    anthropic: await lengthened('anthropic/chat.json'),
    gemini: await lengthened('gemini/chat.json'),
  }
  const server = await backend(t, ({ path }) => {
    const [, provider = ''] = path.split('/')
    return { headers: json, body: answers[provider as keyof typeof answers] }
  })
  const upstreams = [
    use(openai, { apiKey: 'k', baseUrl: `${server.url}/openai` }),
    use(anthropic, { apiKey: 'k', baseUrl: `${server.url}/anthropic` }),
    use(gemini, { apiKey: 'k', baseUrl: `${server.url}/gemini` }),
  ]
  const names = Object.keys(answers)
  const models = Object.fromEntries(names.map((provider) => [provider, { upstreams: [{ provider, model: 'm' }] }]))
  const all = await production(t)
  for (const straight of [true, false]) {
    const { call } = await running(t, { ...all, upstreams }, { ...unhurried, models, routing: { straight } })
    for (const model of names) {
      const messages = [{ role: 'user', content: 'Hi' }]
      for (const [path, body] of [
        ['/std/chat/completions', { model, messages }],
        ['/v1/messages', { model, messages, max_tokens: 9 }],
        ['/v1/responses', { model, input: 'Hi', store: false }],
        [`/v1beta/models/${model}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
      ] as const) {
        const answer = await call('POST', path, body)
        const way = straight ? 'straight' : 'by the long way'
        t.equal(answer.status, 200, `${model} at ${path} ${way}`)
        t.ok((await answer.text()).includes(printedWords), `the text of ${model} at ${path} ${way}`)
      }
    }
  }
})

/** A backend whose whole answer is read when the test says so. */
const readLater = () => {
  let [begun, ends]: [boolean, { resolve(answer: Whole): void; reject(fault: unknown): void } | null] = [false, null]
  const push = (_: string, __: object, ___: string | Uint8Array, reader: AnswerReader): boolean => {
    const line: AnswerLine = { abort: () => undefined, pause: () => undefined, resume: () => undefined }
    void setImmediate().then(() => {
      reader.onRequestStart(line)
      reader.onResponseStart(line, 200, {})
      reader.onResponseData(line, Buffer.from('{}'))
      reader.onResponseEnd(line)
    })
    return true
  }
  const slow = plugin({
    port: Upstream,
    name: 'slow',
    create: (): Upstream => ({
      name: 'slow',
      models: async () => [],
      chat: async () => {
        throw new UpstreamFailed(undefined, { again: true })
      },
      wire: () => ({
        ...{ url: '', headers: {}, push, body: () => '{}', streams: () => true },
        whole: () => {
          begun = true
          return new Promise((resolve, reject) => (ends = { resolve, reject }))
        },
        events: () => {
          throw new Error('No stream was asked for')
        },
      }),
    }),
  })
  return { slow, isBegun: () => begun, end: () => ends! }
}

const other = plugin({
  port: Upstream,
  name: 'other',
  create: (): Upstream => ({
    name: 'other',
    models: async () => [],
    chat: async () => ({ kind: 'completion', completion: { ...longCompletion(), id: 'other' } }),
  }),
})

const chatAt = ({ base, key }: Running, signal?: AbortSignal): Promise<Response> =>
  fetch(`${base}/std/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    ...(signal && { signal }),
  })

const readingLater = async (t: Test, total: number) => {
  const reading = readLater()
  const models = { m: { upstreams: [{ provider: 'slow' }, { provider: 'other', priority: 2 }] } }
  const seen: string[] = []
  const saw = (provider: string, outcome: string): void => void seen.push(`${provider} ${outcome}`)
  const observer = plugin({ port: Observer, name: 'seen', create: (): Observer => ({ saw }) })
  const all = await production(t)
  const gateway = await running(
    t,
    { ...all, upstreams: [use(reading.slow), use(other)], parts: [...(all.parts ?? []), use(observer)] },
    {
      ...unhurried,
      models,
      timeouts: { total },
      routing: { straight: true, retries: 0, breaker: { faults: 1_000, ratio: 1 } },
    },
  )
  // The first call loads what a call needs.
  const answer = await chatAt(gateway)
  t.match(await answer.json(), { id: 'other' })
  seen.length = 0
  return { ...reading, gateway, seen }
}

const lineOf = async ({ logged }: Running, from: number) => {
  const line = () => logged.slice(from).find(({ event }) => event === 'request')
  t.ok(await until(() => line() !== undefined))
  return line()!.facts
}

t.test('an answer that is no answer is asked of the next backend', async (t) => {
  const { gateway, isBegun, end } = await readingLater(t, 10_000)
  const answer = chatAt(gateway)
  t.ok(await until(isBegun))
  end().reject(new UpstreamFailed(undefined, { again: true }))
  t.match(await (await answer).json(), { id: 'other' })
})

t.test('an answer that is read too late is given to nobody', async (t) => {
  const { gateway, seen, isBegun, end } = await readingLater(t, 300)
  const answer = chatAt(gateway)
  t.ok(await until(isBegun))
  const { status } = await answer
  t.equal(status, 503)
  end().resolve({ kind: 'completion', completion: longCompletion() })
  await setImmediate()
  t.strictSame(seen, ['slow failed'])
  t.equal((await gateway.call('GET', '/health/live')).status, 200)
})

t.test('a client that leaves while its answer is read is charged nothing', async (t) => {
  const { gateway, seen, isBegun, end } = await readingLater(t, 10_000)
  const leaving = new AbortController()
  const from = gateway.logged.length
  const answer = chatAt(gateway, leaving.signal).catch(() => null)
  t.ok(await until(isBegun))
  leaving.abort()
  await answer
  const { tokens } = await lineOf(gateway, from)
  end().resolve({ kind: 'completion', completion: longCompletion() })
  await setImmediate()
  t.notOk(tokens, 'no tokens in its line')
  t.strictSame(seen, ['slow left'])
  t.equal((await gateway.call('GET', '/health/live')).status, 200)
})
