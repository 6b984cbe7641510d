import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { readFile } from 'node:fs/promises'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { system } from '../adapters/memory/platform.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { use } from '../core/plugin.ts'
import { Random } from '../core/ports/platform.ts'
import anthropic from '../plugins/providers/anthropic.ts'
import gemini from '../plugins/providers/gemini.ts'
import openai from '../plugins/providers/openai.ts'
import { running, unhurried } from './environments.ts'
import type { Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'
import { given } from './fitted.ts'

const root = new URL(/\/dist\/test\//.test(import.meta.url) ? '../../' : '../', import.meta.url)

/** Everybody is told the earliest moment, so that the test waits no longer than the backend says. */
const still = given(Random, 'still', () => ({ ...system.random, fraction: () => 0 }))

/** An SDK with its own retries, as its users have it. */
interface Sdk {
  /** The column of the table with its status. */
  readonly column: 1 | 2
  readonly model: string
  ask(base: string, key: string, stream: boolean): Promise<unknown>
}

const messages = [{ role: 'user', content: 'Hi' }] as const

const read = async (events: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of events) continue
}

const sdks: Readonly<Record<string, Sdk>> = {
  openai: {
    column: 1,
    model: 'gpt-own',
    async ask(base, apiKey, stream) {
      const { chat } = new OpenAI({ baseURL: `${base}/v1`, apiKey })
      const asked = { model: 'gpt-own', messages: [...messages] }
      if (!stream) return chat.completions.create(asked)
      return read(await chat.completions.create({ ...asked, stream: true }))
    },
  },
  anthropic: {
    column: 2,
    model: 'claude-opus-4-8',
    async ask(baseURL, apiKey, stream) {
      const sdk = new Anthropic({ baseURL, apiKey, authToken: null })
      const asked = { model: 'claude-opus-4-8', max_tokens: 9, messages: [...messages] }
      if (!stream) return sdk.messages.create(asked)
      return read(await sdk.messages.create({ ...asked, stream: true }))
    },
  },
  google: {
    column: 1,
    model: 'gemini-2.5-pro',
    async ask(baseUrl, apiKey, stream) {
      const retryOptions = { attempts: 3, initialDelay: 0.02, maxDelay: 0.1 }
      const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl, retryOptions } })
      const asked = { model: 'gemini-2.5-pro', contents: 'Hi' }
      if (!stream) return models.generateContent(asked)
      return read(await models.generateContentStream(asked))
    },
  },
}

/** One backend behind a gateway that is as its defaults are. */
const scene = async (t: Test, play: () => Take) => {
  const server = await backend(t, (request) =>
    /models(\?|$)/.test(request.path) ? scripted(() => [])(request) : play(),
  )
  const upstreams = [
    use(openai, { baseUrl: `${server.url}/v1`, apiKey: 'k' }, 'openai'),
    use(anthropic, { apiKey: 'k', baseUrl: server.url }, 'anthropic'),
    use(gemini, { apiKey: 'k', baseUrl: `${server.url}/v1beta` }, 'google'),
  ]
  const models = Object.fromEntries(
    Object.entries(sdks).map(([name, { model }]) => [model, { upstreams: [{ provider: name }] }]),
  )
  // A breaker that opens would only lower the count.
  const routing = { breaker: { faults: 1_000, ratio: 1 } }
  const parts = { ...memory(), random: still, fetch: use(doors), upstreams }
  const gateway = await running(t, parts, { models, routing, ...unhurried })
  return { ...gateway, server }
}

interface Row {
  readonly answers: number | null
  readonly cells: readonly string[]
}

const taking = (status: number | null): Take =>
  status === null
    ? { body: '', pace: 'gone' }
    : {
        status,
        headers: { 'content-type': 'application/json', 'retry-after-ms': '20' },
        body: JSON.stringify({ error: { message: 'No.', type: 'other' } }),
      }

/** The rows of the table in docs/errors.md. */
const rows = async (): Promise<readonly Row[]> => {
  const text = await readFile(new URL('docs/errors.md', root), 'utf8')
  const [, table = ''] = /\| the only backend answers [^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/.exec(text) ?? []
  return table
    .trim()
    .split('\n')
    .map((line) => line.slice(2, -2).split(' | '))
    .map((cells) => ({ answers: cells[0] === 'nothing' ? null : Number(cells[0]), cells }))
}

t.setTimeout(300_000)

t.test('each row of the table is what the SDKs meet, and no hop multiplies their retries', async (t) => {
  const table = await rows()
  t.ok(table.length >= 14, 'the table is found')
  for (const { answers, cells } of table) {
    const cases = Object.entries(sdks).flatMap(([name, sdk]) =>
      [false, true].map((stream) => ({ name, stream, ...sdk })),
    )
    await Promise.all(
      cases.map(async ({ name, stream, ask, column }) => {
        let status = answers
        const retries = await scene(t, () => taking(status))
        const alone = async (): Promise<number> => {
          const before = retries.server.asked.length
          await t.rejects(ask(retries.server.url, 'k', stream), `${name} alone fails by ${cells[0]}`)
          return retries.server.asked.length - before
        }
        const direct = await alone()
        // Google's SDK knows neither 529 nor `x-should-retry`: it is held against the status that the gateway gives.
        status = Number(cells[column])
        const without = name === 'google' ? Math.max(direct, await alone()) : direct
        status = answers
        const before = retries.server.asked.length
        const fault = await ask(retries.base, retries.key, stream).then(
          () => null,
          (error: unknown) => error as { readonly status?: number; readonly headers?: Headers },
        )
        const label = `${name} by ${cells[0]}, ${stream ? 'streamed' : 'whole'}`
        t.equal(fault?.status, Number(cells[column]), `${label}: the status`)
        const through = retries.server.asked.length - before
        t.ok(through <= without + 1, `${label}: ${through} calls of the backend, ${without} without the gateway`)
        if (name === 'google') return
        t.equal(fault?.headers?.get('retry-after') != null, cells[3] === 'yes', `${label}: retry-after`)
        t.equal(fault?.headers?.get('x-should-retry') ?? '–', cells[4], `${label}: x-should-retry`)
      }),
    )
  }
})

/** Who rides an outage out, by the backend that is away. */
const riders: Readonly<Record<string, Sdk['ask']>> = {
  openai: sdks['openai']!.ask,
  anthropic: sdks['anthropic']!.ask,
  google(baseUrl, apiKey) {
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl, retryOptions: { attempts: 5 } } })
    return models.generateContent({ model: 'talk', contents: 'Hi' })
  },
  responses: (base, apiKey) =>
    new OpenAI({ baseURL: `${base}/v1`, apiKey }).responses.create({ model: 'talk', input: 'Hi' }),
}

t.test('an outage of six seconds is ridden out by the SDKs that try again', async (t) => {
  const answer = scripted(() => [{ say: 'Here.' }])
  const outlast = async (name: string, ask: Sdk['ask']) => {
    let until = 0
    const server = await backend(t, (request) => {
      if (until === 0) until = Date.now() + 6_000
      if (Date.now() >= until) return answer(request)
      return {
        status: 529,
        headers: { 'content-type': 'application/json' },
        body: '{"error":{"message":"Overloaded"}}',
      }
    })
    const upstreams = [
      use(openai, { baseUrl: `${server.url}/v1`, apiKey: 'k' }, 'openai'),
      use(openai, { baseUrl: `${server.url}/v1`, apiKey: 'k', api: 'responses' }, 'responses'),
      use(anthropic, { apiKey: 'k', baseUrl: server.url }, 'anthropic'),
      use(gemini, { apiKey: 'k', baseUrl: `${server.url}/v1beta` }, 'google'),
    ]
    const model = { upstreams: [{ provider: name }] }
    const models = { talk: model, 'gpt-own': model, 'claude-opus-4-8': model }
    const gateway = await running(t, { ...memory(), fetch: use(doors), upstreams }, { models, ...unhurried })
    t.match(JSON.stringify(await ask(gateway.base, gateway.key, false)), /Here\./, `${name} gets its answer`)
    t.ok(server.asked.length <= 5, `${name}: ${server.asked.length} calls of the backend`)
  }
  await Promise.all(Object.entries(riders).map(([name, ask]) => outlast(name, ask)))
})

t.test('a gateway behind a gateway is told which try it is, and adds no more than one', async (t) => {
  const server = await backend(t, () => taking(500))
  const models = { 'gpt-own': { upstreams: [{ provider: 'openai' }] } }
  const routing = { breaker: { faults: 1_000, ratio: 1 } }
  const housed = (baseUrl: string, apiKey: string) => {
    const upstreams = [use(openai, { baseUrl, apiKey }, 'openai')]
    return running(t, { ...memory(), random: still, fetch: use(doors), upstreams }, { models, routing, ...unhurried })
  }
  const inner = await housed(`${server.url}/v1`, 'k')
  const outer = await housed(`${inner.base}/v1`, inner.key)
  await t.rejects(sdks['openai']!.ask(outer.base, outer.key, false))
  const told = server.asked.map(({ headers }) => headers['x-sealgate-retry-count'])
  t.equal(told[0], '0')
  // Three of the SDK, one of each gateway.
  t.ok(server.asked.length <= 5, `${server.asked.length} calls of the backend`)
})
