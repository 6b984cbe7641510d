import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as network } from '../adapters/production/platform.ts'
import type { Fitting } from '../core/container.ts'
import { use } from '../core/plugin.ts'
import type { Upstream } from '../core/ports/upstream.ts'
import anthropic from '../plugins/providers/anthropic.ts'
import gemini from '../plugins/providers/gemini.ts'
import groq from '../plugins/providers/groq.ts'
import mistral from '../plugins/providers/mistral.ts'
import { backend } from './contracts/stage.ts'
import { running, unhurried } from './environments.ts'
import { doors } from './fakes/callers.ts'
import { breaks, ruled, rulesOf } from './fakes/rules/rules.ts'
import { scripted } from './fakes/scripted.ts'

type Json = Record<string, any>

/** A vendor with published rules, and the model that is asked. */
interface Vendor {
  readonly model: string
  readonly path: string
  at(url: string): Fitting<Upstream>
}

const apiKey = 'k'
const vendors: Readonly<Record<string, Vendor>> = {
  anthropic: {
    ...{ model: 'claude-sonnet-4-5', path: '/v1/messages' },
    at: (url) => use(anthropic, { apiKey, baseUrl: url }),
  },
  gemini: {
    ...{ model: 'gemini-2.5-pro', path: '/v1beta/models/gemini-2.5-pro:generateContent' },
    at: (url) => use(gemini, { apiKey, baseUrl: `${url}/v1beta` }),
  },
  mistral: {
    ...{ model: 'mistral-large-latest', path: '/v1/chat/completions' },
    at: (url) => use(mistral, { apiKey, baseUrl: `${url}/v1` }),
  },
  groq: {
    ...{ model: 'openai/gpt-oss-120b', path: '/v1/chat/completions' },
    at: (url) => use(groq, { apiKey, baseUrl: `${url}/v1` }),
  },
}

/** The model thinks, says a word and calls two tools in each turn but the third. */
const talk = scripted((turn) =>
  turn < 2
    ? [
        { think: `Thought ${turn}.`, signature: `c2lnbmVk${turn}` },
        { say: 'Let me see.' },
        { call: 'weather', args: { city: 'Rome' } },
      ]
    : [{ say: 'It is mild.' }],
)

/** What callers of each door ask for beside, of which a vendor may refuse some. */
const wishes: Readonly<Record<string, Json>> = {
  'chat completions': {
    ...{ seed: 3, logprobs: true, top_logprobs: 2, logit_bias: { 1: 2 }, user: 'u', n: 1, temperature: 0.4 },
    ...{ reasoning_effort: 'high', stream_options: { include_usage: true }, prompt_cache_key: 'p', store: false },
    max_tokens: 4_000,
  },
  responses: {
    reasoning: { effort: 'high' },
    temperature: 0.4,
    max_output_tokens: 4_000,
    user: 'u',
    truncation: 'auto',
  },
  messages: { thinking: { type: 'enabled', budget_tokens: 2_000 }, max_tokens: 4_000, metadata: { user_id: 'u' } },
  gemini: { generationConfig: { temperature: 0.4, seed: 3, maxOutputTokens: 4_000, thinkingConfig: { thinkingBudget: 2_000 } } }, // prettier-ignore
}

/** A conversation of three turns by one door, with and without wishes. */
const converse = async (t: Test, label: string, name: string, ask: (path: string, body: Json) => Promise<Response>) => {
  const door = doors[name]!
  for (const stream of [false, true])
    for (const wish of [{}, wishes[name] ?? {}]) {
      let body: Json = { ...door.first(stream), ...wish }
      for (const turn of [0, 1, 2]) {
        const response = await ask(door.path(stream), body)
        const text = await response.text()
        const where = `${label}, streamed: ${stream}, ${Object.keys(wish).length} wishes, turn ${turn}`
        t.equal(response.status, 200, `${where}: ${response.status === 200 ? '' : text}`)
        if (response.status !== 200) return
        const answer = await door.read(text, stream)
        const ids = door.calls(answer)
        t.equal(ids.length, turn < 2 ? 1 : 0, `${where}: calls`)
        body = door.next(body, answer, ids)
      }
    }
}

t.setTimeout(300_000)

for (const [name, { model, path, at }] of Object.entries(vendors)) {
  t.test(`${name}: each rule refuses a body that breaks it, and no rule another one's`, async (t) => {
    for (const { rule, wrong } of rulesOf(name)) {
      const asked = { method: 'POST', path, headers: {}, body: Buffer.from(JSON.stringify(wrong)) }
      const broken = rulesOf(name).filter((rule) => breaks(rule, asked as never, wrong!) !== null)
      t.same(broken.map(({ rule }) => rule), [rule]) // prettier-ignore
    }
  })

  t.test(`${name}: conversations with tools and thoughts keep the vendor's rules by every door`, async (t) => {
    const broken: string[] = []
    const server = await backend(t, ruled(rulesOf(name), talk, broken))
    const upstreams = [at(server.url)]
    const models = { talk: { upstreams: [{ provider: name, model }] } }
    const parts = { ...memory(), fetch: use(network), upstreams }
    const gateway = await running(t, parts, { models, routing: { retries: 0 }, ...unhurried })
    for (const door of Object.keys(doors))
      await converse(t, `${door} before ${name}`, door, (path, body) => gateway.call('POST', path, body))
    t.same(broken, [], 'no rule of the vendor is broken')
  })
}
