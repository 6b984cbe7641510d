import { survey } from '../../adapters/production/survey.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { checkedConfig } from '../../adapters/production/config/config.ts'
import { production } from '../../adapters/production/index.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { type Running, running, unhurried } from '../environments.ts'
import { jsonTake, said } from '../fakes/at-work.ts'
import { type Literal, literalClient } from '../fakes/literal-client.ts'
import { type Asked, type Take, recorded } from '../fakes/recorded.ts'
import { until } from '../until.ts'

type Play = (request: Asked) => Take | Promise<Take>

interface Stage {
  readonly gateway: Running
  readonly client: Literal
  /** What the two backends do from now on; how often each was asked since then is in `asked`. */
  plays(one: Play, two?: Play): void
  asked(): readonly [one: number, two: number]
}

/** One statement of the interface, and what shows that it holds. */
type Row = readonly [statement: string, holds: (t: Test, stage: Stage) => Promise<void>]

const ids = { lone: 4711, pair: 4712, vectors: 4713 }

/** A model with one backend, a model with two, both sealed and in the clear; a chat model that decides. */
export const stageOf = async (t: Test, timeouts: SettingsInput['timeouts'] = {}): Promise<Stage> => {
  let acts: readonly Play[] = []
  let counts: [number, number] = [0, 0]
  const backends = await Promise.all(
    [0, 1].map((at) =>
      recorded((request) => {
        if (request.path.endsWith('/models')) return jsonTake({ data: [] })
        counts[at]!++
        return acts[at]!(request)
      }),
    ),
  )
  for (const backend of backends) t.teardown(() => backend.close())
  const [one, two] = backends.map(({ url }) => ({ use: 'openai', baseUrl: `${url}/v1`, apiKey: 'k' }))
  const both = [{ provider: 'one' }, { provider: 'two', priority: 2 }]
  const config = checkedConfig(
    {
      log: { level: 'silent' },
      providers: { one, two },
      models: {
        lone: { id: ids.lone, confidential: true, upstreams: [{ provider: 'one' }] },
        pair: { id: ids.pair, confidential: true, upstreams: both },
        vectors: { id: ids.vectors, type: 'EMBEDDING', upstreams: [{ provider: 'one' }] },
      },
      timeouts,
      routing: { retries: 1, breaker: { faults: 1_000, ratio: 1 } },
    },
    {},
  )
  const { models } = config
  const settings = { ...unhurried, models, timeouts, routing: config.routing } as SettingsInput
  const gateway = await running(t, await production(config, t.testdir()), settings)
  return {
    gateway,
    client: literalClient(gateway.base, gateway.key),
    plays(first, second = first) {
      acts = [first, second]
      counts = [0, 0]
    },
    asked: () => counts,
  }
}

const messages = [{ role: 'user', content: 'Where does the heron wait?' }]

const refusing =
  (status: number, error: object | string, headers: Readonly<Record<string, string>> = {}): Play =>
  () => {
    const take = jsonTake(typeof error === 'string' ? { error } : { error }, status)
    return { ...take, headers: { ...take.headers, ...headers } }
  }

const eventsOf = (chunks: readonly object[]): Take => ({
  headers: { 'content-type': 'text/event-stream' },
  body: [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
})

const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'its-own' },
  choices: [{ index: 0, delta, finish_reason }],
})

const spoken = eventsOf([chunk({ role: 'assistant', content: '' }), chunk({ content: 'By the ' }), chunk({ content: 'water' }), chunk({}, 'stop')]) // prettier-ignore

/** What backends say, the code that stands for it, and the member that it names. */
const refusals: readonly (readonly [code: string, status: number, error: object | string, param?: string])[] = [
  ['context_length_exceeded', 400, { message: 'The heron is too long', code: 'context_length_exceeded' }],
  ['context_length_exceeded', 400, { message: 'prompt is too long: 9 tokens > 8 maximum, says the heron' }],
  ['content_filter', 400, { message: 'The heron was filtered', code: 'content_filter' }],
  ['unsupported_parameter', 400, { message: 'No heron: Unknown parameter', code: 'unknown_parameter', param: 'wings' }, 'wings'], // prettier-ignore
  ['invalid_image', 400, 'Failed to load image of a heron'],
  ['request_too_large', 413, { message: 'The heron is too large' }],
]

const errors: readonly Row[] = [
  [
    '7 where every backend answers 429 the caller gets 429, with the earliest time',
    async (t, { client, plays, asked }) => {
      plays(
        refusing(429, { message: 'Slow' }, { 'retry-after': '300' }),
        refusing(429, 'Slow', { 'retry-after': '200' }),
      )
      const { status, headers, body } = await client.send('/std/chat/completions', {
        body: { model: 'pair', messages },
      })
      t.same([status, body.status, asked()], [429, 429, [1, 1]])
      const wait = Number(headers.get('retry-after'))
      t.ok(wait >= 199 && wait <= 231, `${wait}`)
      t.equal(headers.get('x-should-retry'), null, 'a later try may fare better')
      plays(refusing(429, { message: 'Pay', code: 'insufficient_quota' }))
      const unpaid = await client.send('/std/chat/completions', { body: { model: 'pair', messages } })
      t.match(unpaid, { status: 429, body: { log: { code: 'insufficient_quota' } } })
      t.same([unpaid.headers.get('retry-after'), unpaid.headers.get('x-should-retry')], [null, 'false'])
      t.notMatch(unpaid.body.error, /Pay/)
    },
  ],
  [
    '2.1 a refusal says its code in log.code, and what the backend said',
    async (t, { client, plays, asked }) => {
      for (const [code, status, error, param] of refusals) {
        plays(refusing(status, error))
        const answer = await client.send('/std/chat/completions', { body: { model: 'lone', messages } })
        t.match(answer, {
          status: 400,
          body: { status: 400, error: /^The backend refused the request: .*heron/, data: null },
        })
        t.same(answer.body.log, { request_id: answer.body.support_id, code })
        t.same(Object.keys(answer.body.validator ?? {}), param === undefined ? [] : [param])
        t.equal(answer.headers.get('x-should-retry'), 'false')
        t.same(asked(), [1, 0], 'it is asked once')
      }
    },
  ],
  [
    '2.1 the routes under /v1 say the same code in their own dialects, and 413 for what is too large',
    async (t, { client, plays }) => {
      for (const [code, status, error, param] of refusals) {
        plays(refusing(status, error))
        const expected = status === 413 ? 413 : 400
        const chat = await client.send('/v1/chat/completions', { body: { model: 'lone', messages } })
        t.match(chat, { status: expected, body: { error: { code, message: /heron/, param: param ?? null } } })
        const message = await client.send('/v1/messages', { body: { model: 'lone', messages, max_tokens: 9 } })
        t.match(message, { status: expected, body: { type: 'error', error: { code, message: /heron/ } } })
        const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
        const google = await client.send('/v1beta/models/lone:generateContent', { body: { contents } })
        t.match(google, { status: expected, body: { error: { message: /heron/, details: [{ reason: code }] } } })
      }
    },
  ],
  [
    '4.6 on the sealed route the code and the sentence are sealed',
    async (t, { gateway, client, plays }) => {
      for (const [code, status, error, param] of refusals) {
        plays(refusing(status, error))
        const sealed = client.sealed(await client.agree(), 'encryptedInference', { model: 'lone', messages })
        const outside = await client.send('/rvenc/chat/completions', { body: sealed })
        t.match(outside, { status: 400, body: { error: 'The backend refused the request' } })
        t.notMatch(JSON.stringify(outside.body), new RegExp(`heron|${code}`))
        const { body } = await client.chat({ model: 'lone', messages })
        t.match(body, { code, message: /heron/, ...(param !== undefined && { field: param }) })
      }
      t.notMatch(JSON.stringify(gateway.logged.map(({ event, facts }) => [event, facts])), /heron/)
    },
  ],
  [
    '2.1 a backend’s sentence tells no address, key or account, and none at all of 401 to 403',
    async (t, { client, plays }) => {
      const message = `The heron at http://10.0.0.7:8000 of org-acme77 with sk-live-abcd1234 ${'and so on '.repeat(90)}`
      plays(refusing(400, { message }))
      const { body } = await client.send('/std/chat/completions', { body: { model: 'lone', messages } })
      t.match(body.error, /heron/)
      t.notMatch(body.error, /10\.0\.0\.7|8000|acme77|abcd1234/)
      t.ok(body.error.length <= 'The backend refused the request: '.length + 500)
      for (const status of [401, 402, 403]) {
        plays(refusing(status, { message: 'The heron has no key' }))
        const answer = await client.send('/std/chat/completions', { body: { model: 'lone', messages } })
        t.equal(answer.status, 502)
        t.notMatch(JSON.stringify(answer.body), /heron|key/)
      }
    },
  ],
  [
    '7 a fault that time heals is a 503 with the time of the next try',
    async (t, { client, plays, asked }) => {
      plays(refusing(500, 'Down'))
      const { status, headers } = await client.send('/std/chat/completions', { body: { model: 'lone', messages } })
      t.same([status, headers.get('x-should-retry'), asked()], [503, null, [2, 0]])
      t.ok(Number(headers.get('retry-after')) >= 2)
    },
  ],
  [
    '7 a validation error names the first field in its sentence',
    async (t, { client }) => {
      const body = { model: 'lone', messages: [{ role: 'heron', content: 'x' }] }
      const answer = await client.send('/std/chat/completions', { body })
      t.match(answer, { status: 400, body: { error: /^Validation failed: messages\.0\.role: Expected/ } })
      t.match(answer.body.validator, { 'messages.0.role': /^Expected/ })
      t.notMatch(answer.body.error, /heron/)
    },
  ],
  [
    '7 callers that are refused together are told different times',
    async (t, { gateway }) => {
      const { credential } = await gateway.gateway.keys.create({ limits: { requestsPerSecond: 1 } })
      const client = literalClient(gateway.base, credential)
      const answers = await Promise.all(Array.from({ length: 12 }, () => client.send('/std/models')))
      const refused = answers.filter(({ status }) => status === 429)
      t.ok(refused.length >= 8)
      for (const name of ['retry-after', 'retry-after-ms'])
        t.ok(new Set(refused.map(({ headers }) => headers.get(name))).size > 1, name)
    },
  ],
  [
    '4.10 a file for which there is no room is told the quota',
    async (t) => {
      const gateway = await running(t, memory(), { files: { quota: { bytes: 100 } } })
      const client = literalClient(gateway.base, gateway.key)
      const fields = client.fileFields(new Uint8Array(32), { name: 'a', mime: 'b' }, new Uint8Array(200))
      const { status, body } = await client.send('/files/encrypted/upload', { body: fields })
      t.equal(status, 400)
      t.match(body, { error: /used up: it has 100 bytes/, validator: { quota: '100 bytes' }, log: { code: 'over_quota' } }) // prettier-ignore
    },
  ],
  [
    '7 a body that something else has read is a 500 that names the mend, and no second try',
    async (t) => {
      const middleware = [
        async (ctx: { req: AsyncIterable<unknown> }, next: () => Promise<void>) => {
          for await (const _ of ctx.req) continue
          await next()
        },
      ]
      const gateway = await running(t, { ...memory(), middleware: middleware as never })
      const client = literalClient(gateway.base, gateway.key)
      for (const path of ['/std/chat/completions', '/files/encrypted/upload', '/rvenc/audio/transcriptions']) {
        const { status, headers, body } = await client.send(path, { body: { model: 'lone', messages } })
        t.match(
          [status, body.error],
          [500, /Another reader took the body first: put the gateway before any body parser/],
          path,
        )
        t.same([headers.get('x-should-retry'), headers.get('retry-after')], ['false', null])
      }
    },
  ],
]

const models: readonly Row[] = [
  [
    '7 while a provider refuses its key a model is not known yet, and nothing is said of the key',
    async (t) => {
      const backend = await recorded(refusing(401, { message: 'Incorrect API key' }))
      t.teardown(() => backend.close())
      const providers = { one: { use: 'openai', baseUrl: `${backend.url}/v1`, apiKey: 'sk-wrong' } }
      const config = checkedConfig({ log: { level: 'silent' }, providers }, {})
      const gateway = await running(t, await production(config, t.testdir()))
      const client = literalClient(gateway.base, gateway.key)
      for (const path of ['/std/chat/completions', '/v1/chat/completions', '/compat/v1/decision'] as const) {
        const body = { model: 'small', messages, state: 1, questions: { q: { type: 'noul', instructions: 'Is it?' } } }
        const answer = await client.send(path, { body })
        t.match([answer.status, JSON.stringify(answer.body)], [503, /The model list is not known yet/], path)
        t.ok(Number(answer.headers.get('retry-after')) >= 1)
        // Ids have any digits.
        t.notMatch(JSON.stringify(answer.body).replace(/[\da-f]{8}-[\da-f-]{27}/g, ''), /key|401/i)
      }
      t.equal((await client.send('/v1/models/small')).status, 503)
      t.match((await client.chat({ model: 'small', messages })).body, { code: 'unavailable' })
      t.match((await survey(gateway.gateway.supply, AbortSignal.timeout(10_000))).backends, [
        { name: 'one', fault: { answered: 401 } },
      ])
      for (const event of ['models.unlisted', 'provider.refused'])
        t.match(gateway.logged.find((line) => line.event === event)?.facts, { provider: 'one', status: 401 }, event)
    },
  ],
  [
    '4.1 a chat model that could decide is refused with what would make it decide',
    async (t, { client }) => {
      const body = { model: 'lone', state: 1, questions: { q: { type: 'noul', instructions: 'Is it?' } } }
      const { status, body: refused } = await client.send('/compat/v1/decision', { body })
      t.equal(status, 400)
      t.match(refused.validator.model, /"decide": true/)
    },
  ],
  [
    '2.4 the id of a catalog is taken wherever the name is',
    async (t, { client, plays }) => {
      const { body: catalog } = await client.send('/std/models')
      t.same(
        catalog.data.map(({ id, model }: { id: number; model: string }) => [model, id]),
        [
          ['lone', ids.lone],
          ['pair', ids.pair],
        ],
      )
      plays(() => said('By the water'))
      for (const id of [ids.lone, `${ids.lone}`])
        for (const [path, body] of [
          ['/std/chat/completions', { model: id, messages }],
          ['/v1/chat/completions', { model: id, messages }],
          ['/v1/responses', { model: id, input: 'Hi' }],
          ['/v1/messages', { model: id, messages, max_tokens: 9 }],
          [`/v1beta/models/${id}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
        ] as const) {
          const answer = await client.send(path, { body })
          t.match([answer.status, JSON.stringify(answer.body)], [200, /By the water/], path)
        }
      t.match((await client.chat({ model: ids.lone, messages })).body, { model: 'lone' }, 'sealed too')
      t.match(await client.send(`/v1/models/${ids.lone}`), { status: 200, body: { id: 'lone' } })
      const decision = { model: ids.lone, state: 1, questions: { q: { type: 'noul', instructions: 'Is it?' } } }
      t.match((await client.send('/compat/v1/decision', { body: decision })).body.error, /only chats/)
      plays(() => jsonTake({ data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 1, total_tokens: 1 } }))
      t.equal((await client.send('/std/embeddings', { body: { model: ids.vectors, input: 'Hi' } })).status, 200)
      t.equal((await client.send('/std/chat/completions', { body: { model: 99, messages } })).status, 404)
    },
  ],
  [
    '2.4 an unknown price has its first level, and created is a time',
    async (t, { client, plays }) => {
      for (const path of ['/std/models', '/rvenc/models']) {
        const { body } = await client.send(path)
        for (const { price_config, created } of body.data) {
          t.same(price_config, { standard: {}, confidential: {} })
          t.ok(Number.isInteger(created) && Math.abs(created - Date.now() / 1000) < 600)
        }
      }
      plays(() => said('By the water'))
      t.equal((await client.send('/std/chat/completions', { body: { model: 'lone', messages } })).status, 200)
      const costs = async (): Promise<readonly unknown[]> => {
        const { usage } = (await client.send('/admin/usage')).body.data
        return usage
          .filter(({ model }: { model: string }) => model === 'lone')
          .map(({ cost }: { cost: unknown }) => cost)
      }
      t.ok(await until(async () => (await costs()).length > 0))
      t.same(await costs(), [null], 'what it cost is not known')
    },
  ],
]

const nulls = { role: null, content: null, reasoning_content: null, tool_calls: null }

const streams: readonly Row[] = [
  [
    '4.6 a delta has all its keys, and that of the last chunk is empty',
    async (t, { client, plays }) => {
      plays(() => spoken)
      const chunks = (await client.chatStream({ model: 'lone', messages }))
        .filter(({ opened }) => opened !== null)
        .map(({ opened }) => opened.choices[0])
      t.ok(chunks.length >= 2)
      for (const { delta } of chunks.slice(0, -1)) t.same(Object.keys(delta).sort(), Object.keys(nulls).sort())
      t.same([chunks.at(-1).delta, chunks.at(-1).finish_reason], [{}, 'stop'])
      const body = { model: 'lone', messages, stream: true }
      const plain = String((await client.send('/std/chat/completions', { body })).body)
      t.ok(plain.includes(JSON.stringify({ ...nulls, content: 'water' })))
      const open = String((await client.send('/v1/chat/completions', { body })).body)
      t.ok(open.includes('"delta":{"content":"water"}'), 'the public format is as the backend words it')
    },
  ],
  [
    '4.6 when inference fails the error event holds a sealed frame, and no end mark follows',
    async (t, { client, plays }) => {
      plays(refusing(500, 'Down'))
      const failed = await client.chatStream({ model: 'lone', messages })
      t.same([failed.at(-1)!.event, failed.at(-1)!.opened.error.code], ['error', 'unavailable'])
      t.notOk(failed.some(({ event }) => event === 'done' || event === 'data'))
      plays(refusing(400, { message: 'The heron is too long', code: 'context_length_exceeded' }))
      const refused = await client.chatStream({ model: 'lone', messages })
      t.match(refused.at(-1), { event: 'error', opened: { error: { code: 'context_length_exceeded', message: /heron/ } } }) // prettier-ignore
    },
  ],
  [
    '8 the first token of a sealed stream may take long: a lone backend is asked once, with heartbeats meanwhile',
    async (t) => {
      const { client, plays, asked } = await stageOf(t, { firstToken: 300, total: 700, heartbeat: 100 })
      plays(async () => {
        await sleep(1_500)
        return spoken
      })
      const events = await client.chatStream({ model: 'lone', messages })
      t.same([asked(), events.at(-1)!.event], [[1, 0], 'done'])
      t.ok(events.filter(({ event }) => event === 'heartbeat').length >= 5)
      const all = await client.chatStream({ model: 'pair', messages })
      t.same([asked(), all.at(-1)!.event], [[2, 1], 'done'], 'and the last of two')
    },
  ],
]

const addresses: readonly Row[] = [
  [
    '4.9 an address for tools and indexing alone tells the keys to seal to',
    async (t) => {
      const gateway = await running(t, memory(), { surfaces: ['tools', 'index'] })
      const client = literalClient(gateway.base, gateway.key)
      const challenge = 'ab'.repeat(32)
      for (const path of ['/rvenc/keys', `/rvenc/attestation?challenge=${challenge}`, '/rvenc/models'])
        t.equal((await client.send(path)).status, 200, path)
      t.match(await client.tool('getTime', { timezone: 'UTC' }), { status: 200 })
      t.equal((await client.send('/rvenc/chat/completions', { body: {} })).status, 404, 'and nothing else of it')
    },
  ],
]

export const inference: readonly Row[] = [...errors, ...models, ...streams, ...addresses]
