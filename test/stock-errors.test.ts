import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText } from 'ai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { system } from '../adapters/memory/platform.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { use } from '../core/plugin.ts'
import { Random } from '../core/ports/platform.ts'
import openai from '../plugins/providers/openai.ts'
import { running, unhurried } from './environments.ts'
import type { Take } from './fakes/recorded.ts'
import { backend } from './contracts/stage.ts'
import { given } from './fitted.ts'
import { failed } from './helpers.ts'

const refusal = (status: number, error: object, headers: Record<string, string> = {}): Take => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ error }),
})

interface Case {
  readonly backend: Take
  readonly status: number
  readonly says: RegExp
  readonly code: string | null
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether the AI SDK would ask again. */
  readonly isRetryable: boolean
  /** How LangChain names what it was told, where it knows a name. */
  readonly langchain?: object
  /** How often a client that may ask `1 + retries` times asks. */
  readonly asks: number
  readonly retries: number
  /** Whether models come from the provider's own list, which it refuses to tell. */
  readonly listed?: boolean
}

const cases: Readonly<Record<string, Case>> = {
  'a full backend': {
    backend: refusal(429, { message: 'Slow down' }, { 'retry-after-ms': '10' }),
    status: 429,
    says: /The backends take no more requests for now/,
    code: 'rate_limit_exceeded',
    headers: { 'retry-after': '1', 'x-should-retry': undefined },
    isRetryable: true,
    langchain: { lc_error_code: 'MODEL_RATE_LIMIT', rateLimitType: 'wait', retryAfterMs: 1000 },
    asks: 2,
    retries: 1,
  },
  'a prompt that is too long': {
    backend: refusal(400, { message: 'The maximum context length is 8 tokens', code: 'context_length_exceeded' }),
    status: 400,
    says: /The maximum context length is 8 tokens/,
    code: 'context_length_exceeded',
    headers: { 'retry-after': undefined, 'x-should-retry': 'false' },
    isRetryable: false,
    langchain: { name: 'ContextOverflowError' },
    asks: 1,
    retries: 2,
  },
  'a prompt that a filter caught': {
    backend: refusal(400, { message: 'The prompt was flagged', code: 'content_filter' }),
    status: 400,
    says: /The prompt was flagged/,
    code: 'content_filter',
    headers: { 'retry-after': undefined, 'x-should-retry': 'false' },
    isRetryable: false,
    asks: 1,
    retries: 2,
  },
  'a model list that is not known yet': {
    backend: refusal(401, { message: 'Incorrect API key' }),
    status: 503,
    says: /The model list is not known yet/,
    code: null,
    headers: { 'retry-after': '5', 'x-should-retry': undefined },
    isRetryable: true,
    asks: 1,
    // A second try would wait for five seconds.
    retries: 0,
    listed: true,
  },
}

/** Everyone is told the same moment, so that a client waits no longer than the backend asks. */
const still = given(Random, 'still', () => ({ ...system.random, fraction: () => 0 }))

const scene = async (t: Test, { backend: plays, listed }: Case) => {
  const server = await backend(t, () => plays)
  const gateway = await running(
    t,
    {
      ...memory(),
      random: still,
      fetch: use(doors),
      upstreams: [use(openai, { baseUrl: `${server.url}/v1`, apiKey: 'sk-wrong' })],
    },
    {
      ...(!listed && { models: { talk: { upstreams: [{ provider: 'openai' }] } } }),
      routing: { retries: 0 },
      ...unhurried,
    },
  )
  const asks = () => gateway.logged.filter(({ event }) => event === 'request').length
  const failing = async (call: () => Promise<unknown>): Promise<{ error: any; asks: number }> => {
    const before = asks()
    const error = await failed(call())
    return { error, asks: asks() - before }
  }
  return { baseURL: `${gateway.base}/v1`, apiKey: gateway.key, failing }
}

for (const [name, expected] of Object.entries(cases)) {
  t.test(`the AI SDK and LangChain are told of ${name}`, async (t) => {
    const { baseURL, apiKey, failing } = await scene(t, expected)
    const shown = (headers: Readonly<Record<string, string | null>>) =>
      Object.fromEntries(Object.keys(expected.headers).map((name) => [name, headers[name] ?? undefined]))

    const model = createOpenAICompatible({ name: 'sealgate', baseURL, apiKey }).chatModel('talk')
    const ai = await failing(() => generateText({ model, prompt: 'Hi', maxRetries: expected.retries }))
    const told = ai.error.lastError ?? ai.error
    t.match(told, {
      name: 'AI_APICallError',
      statusCode: expected.status,
      message: expected.says,
      isRetryable: expected.isRetryable,
    })
    t.match(told.data.error, { code: expected.code })
    t.same(shown(told.responseHeaders), expected.headers, 'the AI SDK sees when to come back')
    t.equal(ai.asks, expected.asks, 'the AI SDK asks as often as makes sense')

    const chain = new ChatOpenAI({ model: 'talk', apiKey, configuration: { baseURL }, maxRetries: expected.retries })
    const { error, asks } = await failing(() => chain.invoke('Hi'))
    t.match(error, { message: expected.says, ...expected.langchain })
    const cause = error.status === undefined ? error.cause : error
    t.match(cause, { status: expected.status, code: expected.code })
    t.same(shown(Object.fromEntries(cause.headers)), expected.headers, 'LangChain sees when to come back')
    t.equal(asks, expected.asks, 'LangChain asks as often as makes sense')
  })
}
