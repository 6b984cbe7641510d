import './fakes/unwatched.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { production } from '../adapters/production/index.ts'
import type { Adapters } from '../core/gateway.ts'
import { use } from '../core/plugin.ts'
import type { SettingsInput } from '../core/settings.ts'
import redact from '../plugins/guards/redact.ts'
import words from '../plugins/guards/words.ts'
import { type Running, running, unhurried } from './environments.ts'
import { sumsMs, until } from './until.ts'
import { type Recorded, recorded } from './fakes/recorded.ts'
import { settled } from './fakes/settled.ts'
import { vendorsAt } from './fakes/vendor-answers.ts'
import {
  type RecordedModels,
  credentialOf,
  isSignIn,
  recordedModels,
  recordingsOf,
  wireAnswer,
  wiresAt,
} from './fakes/vendor-wires.ts'

type Json = Record<string, unknown>

const tools = { name: 'weather', description: 'Weather.', parameters: { type: 'object', properties: {} } }
const text = 'What is "it"? 😀 é'

/** What each door is asked. */
const doors: Readonly<Record<string, (model: string, stream: boolean) => readonly [path: string, body: Json]>> = {
  standard: (model, stream) => [
    '/std/chat/completions',
    {
      model,
      messages: [{ role: 'user', content: text }],
      ...(stream && { stream, stream_options: { include_usage: true } }),
    },
  ],
  'standard without usage': (model, stream) => [
    '/std/chat/completions',
    { model, stream, messages: [{ role: 'user', content: [{ type: 'text', text }] }], temperature: 1.0, n: 1 },
  ],
  'chat completions': (model, stream) => [
    '/v1/chat/completions',
    {
      messages: [{ role: 'user', content: text }],
      tools: [{ type: 'function', function: tools }],
      store: false,
      model,
      stream,
    },
  ],
  Messages: (model, stream) => [
    '/v1/messages',
    { model, max_tokens: 99, stream, messages: [{ role: 'user', content: text }] },
  ],
  Responses: (model, stream) => [
    '/v1/responses',
    { model, stream, store: false, input: text, tools: [{ type: 'function', ...tools }] },
  ],
  Gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text }] }] },
  ],
}

/** Waits are spread by chance, so their presence alone is compared. */
const headersOf = (headers: Headers) =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => /^(content-type|x-sealgate-(answered-by|attempts|dropped|guards)|retry-after)$/.test(name))
      .map(([name, value]) => [name, name === 'retry-after' ? '' : value]),
  )

/** Fields of the request to the backend, and the headers by which a backend knows it. */
const askedOf = ({ asked: requests }: Recorded, from: number) =>
  requests
    .slice(from)
    .filter((request) => !isSignIn(request))
    .map((request) => {
      const { 'content-type': type, 'x-sealgate-retry-count': tries, 'anthropic-beta': betas } = request.headers
      const { stream = false, ...fields } = JSON.parse(request.body.toString()) as Json
      return { path: request.path, credential: credentialOf(request), type, tries, betas, stream, fields }
    })

/** The caller's name of a model. */
const nameOf = ({ provider, folder }: RecordedModels, recording: string): string => `${provider}-${folder}-${recording}`

/** What looks at chats on their way, beside the ways themselves. */
interface Company {
  readonly guards?: Adapters['guards']
  readonly hedge?: { readonly after: number; readonly share: number }
}

/** A folder for each gateway: a second call of `testdir` would empty that of the first one. */
const folderOf = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sealgate-straight-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const gatewayOf = async (
  t: Test,
  url: string,
  straight: boolean,
  { guards = [], hedge }: Company = {},
): Promise<Running> => {
  const pair = ['anthropic', 'openai'].map((provider) => ({ provider, model: 'chat' }))
  const models: SettingsInput['models'] = { pair: { upstreams: pair } }
  for (const served of recordedModels)
    for (const recording of recordingsOf(served)) {
      const model = served.modelOf(recording)
      models[nameOf(served, recording)] = { upstreams: [{ provider: served.provider, model }] }
    }
  const made = await production(checkedConfig({ log: { level: 'silent' } }, {}), folderOf(t))
  const routing = { straight, retries: 0, breaker: { faults: 1_000_000, ratio: 1 }, ...(hedge && { hedge }) }
  return running(
    t,
    { ...made, guards, upstreams: [...vendorsAt(url), ...wiresAt(url)] },
    { ...unhurried, models, routing },
  )
}

/** Chats that went one way for one reason, by the metrics. */
const straightOf = async ({ call }: Running, why = 'all', way = 'straight'): Promise<number> => {
  const text = await (await call('GET', '/metrics')).text()
  return Number(new RegExp(`sealgate_straight_total\\{way="${way}",why="${why}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
}

/** Why chats went which way, as the metrics count them. */
const waysOf = async ({ call }: Running): Promise<string> =>
  Array.from((await (await call('GET', '/metrics')).text()).matchAll(/^sealgate_straight_total\{.*/gm)).join(', ')

/** What the log tells of a request since a line: the call in its own line, and the line of a backend that failed. */
const loggedOf = async ({ logged }: Running, id: string | null, since: number) => {
  const lines = () => logged.slice(since).filter(({ facts }) => facts['request'] === id)
  if (!(await until(() => lines().some(({ event }) => event === 'request')))) throw new Error('No line of the request')
  return lines()
    .map(({ event, facts: { model, backend, tokens, provider, team } }) => ({
      ...{ event, model, backend, tokens, provider, team },
    }))
    .sort((one, other) => (one.event < other.event ? -1 : 1))
}

/** Asks one gateway, and gives all that is to be the same at another one. */
const asking =
  (backend: Recorded) =>
  async (running: Running, path: string, body: Json, headers: Record<string, string> = {}) => {
    const [from, since] = [backend.asked.length, running.logged.length]
    const answer = await running.call('POST', path, body, headers)
    const text = await answer.text()
    return {
      status: answer.status,
      headers: headersOf(answer.headers),
      text: settled(text),
      asked: askedOf(backend, from),
      logged: await loggedOf(running, answer.headers.get('x-request-id'), since),
    }
  }

t.test(
  'a chat has the same answer, and its backend the same request, straight and by the long way',
  { timeout: 170_000 },
  async (t) => {
    const backend = await recorded(wireAnswer)
    t.teardown(() => backend.close())
    const [straight, long] = [await gatewayOf(t, backend.url, true), await gatewayOf(t, backend.url, false)]
    const ask = asking(backend)
    // The first chat of a route goes the long way, and so does the one that signs in.
    for (const model of ['openai-openai-chat', 'entra-azure-chat', 'vertex-gemini-chat'])
      for (const bodyOf of Object.values(doors))
        for (const stream of [false, true]) await ask(straight, ...bodyOf(model, stream))
    let chats = 0
    let toldTokens = 0
    for (const served of recordedModels) {
      const { provider, folder } = served
      const before = { chats, straight: await straightOf(straight) }
      for (const [door, bodyOf] of Object.entries(doors))
        for (const recording of recordingsOf(served))
          for (const stream of [false, true]) {
            const [path, body] = bodyOf(nameOf(served, recording), stream)
            const [here, there] = [await ask(straight, path, body), await ask(long, path, body)]
            t.strictSame(here, there, `${door}, ${provider}, ${folder}, ${recording}${stream ? ', streamed' : ''}`)
            chats++
            if (here.logged.some(({ tokens, backend }) => backend === provider && Number(tokens) > 0)) toldTokens++
          }
      const share = ((await straightOf(straight)) - before.straight) / (chats - before.chats)
      t.ok(
        share > 0.8,
        `and most chats of ${provider} by ${folder} went straight: ${share} (${await waysOf(straight)})`,
      )
    }
    t.ok(toldTokens > 0.5 * chats, 'and the log tells backend and tokens of each that was answered')
    t.equal(await straightOf(long), 0, 'and none where the way is shut')
  },
)

/** How often the calls of a key had each tag. */
const tagsAt = async ({ call }: Running): Promise<Readonly<Record<string, number>>> => {
  const answer = await call('GET', '/admin/usage/sums?by=tag')
  const { data } = (await answer.json()) as { data: { sums: { name: string; requests: number }[] } }
  return Object.fromEntries(data.sums.map(({ name, requests }) => [name, requests]))
}

t.test('tagged and pinned chats go straight, with the same answers', { timeout: 120_000 }, async (t) => {
  const backend = await recorded(wireAnswer)
  t.teardown(() => backend.close())
  const [straight, long] = [await gatewayOf(t, backend.url, true), await gatewayOf(t, backend.url, false)]
  const ask = asking(backend)
  for (const bodyOf of Object.values(doors))
    for (const stream of [false, true]) await ask(straight, ...bodyOf('openai-openai-chat', stream))
  const keysOf = () => straightOf(straight, 'key', 'long')
  const before = { straight: await straightOf(straight), keys: await keysOf() }
  const kinds: Readonly<Record<string, readonly [fields: Json, headers: Record<string, string>]>> = {
    tagged: [{ provider: 'anthropic' }, { 'x-sealgate-tags': 'feature=search, env=test' }],
    'pinned to the first': [{ provider: 'anthropic' }, {}],
    'pinned to the second': [{ provider: 'openai' }, {}],
    'pinned to none': [{ provider: 'gemini' }, {}],
    'wrongly tagged': [{}, { 'x-sealgate-tags': 'feature' }],
  }
  let chats = 0
  for (const [kind, [fields, headers]] of Object.entries(kinds))
    for (const [door, bodyOf] of Object.entries(doors))
      for (const stream of [false, true]) {
        const [path, body] = bodyOf('pair', stream)
        const asked = { ...body, ...fields }
        const [here, there] = [await ask(straight, path, asked, headers), await ask(long, path, asked, headers)]
        t.strictSame(here, there, `${kind}, ${door}${stream ? ', streamed' : ''}`)
        if (here.status === 200) chats++
      }
  const went = (await straightOf(straight)) - before.straight
  // A key is looked up again after five seconds, by the long way of one chat.
  const byKey = (await keysOf()) - before.keys
  t.ok(
    went <= chats && went + byKey >= chats,
    `${went} of ${chats} that were answered went straight, ${byKey} by the key (${await waysOf(straight)})`,
  )
  const due = 2 * Object.keys(doors).length
  for (const running of [straight, long]) {
    const all = { 'env=test': due, 'feature=search': due }
    // Each tag has a row of its own, which is written by itself.
    const areCounted = async () => Object.values(await tagsAt(running)).filter((count) => count === due).length === 2
    t.ok(await until(areCounted, sumsMs), 'the calls are counted under their tags')
    t.same(await tagsAt(running), all)
  }
})

const companies: Readonly<Record<string, readonly [company: Company, why: string]>> = {
  guards: [
    { guards: [use(redact, { restore: true }), use(words, { lists: { marked: { words: ['cafés'], then: 'mark' } } })] },
    'guards',
  ],
  hedges: [{ hedge: { after: 5_000, share: 0.1 } }, 'search'],
}

for (const [name, [company, why]] of Object.entries(companies))
  t.test(`chats beside ${name} go straight, with the same answers`, { timeout: 120_000 }, async (t) => {
    const backend = await recorded(wireAnswer)
    t.teardown(() => backend.close())
    const [straight, long] = [
      await gatewayOf(t, backend.url, true, company),
      await gatewayOf(t, backend.url, false, company),
    ]
    const ask = asking(backend)
    for (const bodyOf of Object.values(doors))
      for (const stream of [false, true]) await ask(straight, ...bodyOf('openai-openai-chat', stream))
    const before = await straightOf(straight, why)
    let chats = 0
    for (const served of recordedModels.filter(({ provider }) =>
      ['openai', 'anthropic', 'gemini', 'bedrock'].includes(provider),
    ))
      for (const [door, bodyOf] of Object.entries(doors))
        for (const recording of recordingsOf(served))
          for (const stream of [false, true]) {
            const [path, body] = bodyOf(nameOf(served, recording), stream)
            const told = {
              ...body,
              ...('messages' in body && { messages: [{ role: 'user', content: 'I am ann@example.org' }] }),
            }
            const [here, there] = [await ask(straight, path, told), await ask(long, path, told)]
            t.strictSame(
              here,
              there,
              `${door}, ${served.provider}, ${served.folder}, ${recording}${stream ? ', streamed' : ''}`,
            )
            chats++
          }
    t.ok((await straightOf(straight, why)) - before > 0.8 * chats, 'and most of them went straight')
  })

/** Tokens with the twenty most likely ones in their places, which the end of a response tells four times. */
const oddsTokens = 500
const odd = { token: 'wörd ', logprob: -0.5, bytes: [119, 195, 182, 114, 100, 32] }
const oddsStream = (call: string): string => {
  const logprobs = { content: [{ ...odd, top_logprobs: Array(20).fill(odd) }] }
  const eventOf = (delta: Json, finish_reason: string | null, logprobs: Json | null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason, logprobs }] })}\n\n`
  const words = eventOf({ content: odd.token }, null, logprobs).repeat(oddsTokens)
  const calling =
    call === ''
      ? ''
      : eventOf({ tool_calls: [{ index: 0, id: call, function: { name: 'weather', arguments: '{}' } }] }, null, null)
  return `${words}${calling}${eventOf({}, 'stop', null)}data: [DONE]\n\n`
}

for (const [before, call] of [
  ['its end', ''],
  ['a call', 'call_1'],
] as const)
  t.test(`the long events of a response before ${before} are the same, straight and by the long way`, async (t) => {
    const headers = { 'content-type': 'text/event-stream' }
    const backend = await recorded(() => ({ headers, body: oddsStream(call) }))
    t.teardown(() => backend.close())
    const [straight, long] = [await gatewayOf(t, backend.url, true), await gatewayOf(t, backend.url, false)]
    const ask = asking(backend)
    const [path, body] = doors['Responses']!('openai-openai-chat', true)
    const wanted = { ...body, include: ['message.output_text.logprobs'], top_logprobs: 20 }
    await ask(straight, path, wanted)
    const went = await straightOf(straight)
    const [here, there] = [await ask(straight, path, wanted), await ask(long, path, wanted)]
    t.equal(here.text, there.text)
    t.equal((await straightOf(straight)) - went, 1, 'and one went straight')
    const events = Array.from(here.text.matchAll(/^data: (.*)$/gm), ([, data]) => JSON.parse(data!) as Json)
    t.same(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, at) => at),
    )
    const { type, response } = events.at(-1) as {
      readonly type: string
      readonly response: { readonly output: Json[] }
    }
    const [content] = response.output[0]!['content'] as readonly {
      readonly text: string
      readonly logprobs: unknown[]
    }[]
    t.strictSame(
      [type, content!.text, content!.logprobs.length],
      ['response.completed', odd.token.repeat(oddsTokens), oddsTokens],
    )
  })
