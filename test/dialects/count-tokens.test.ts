import t, { type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { fetch as doors } from '../../adapters/production/platform.ts'
import type { Adapters } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import type { SettingsInput } from '../../core/settings.ts'
import words from '../../plugins/guards/words.ts'
import anthropic from '../../plugins/providers/anthropic.ts'
import gemini from '../../plugins/providers/gemini.ts'
import groq from '../../plugins/providers/groq.ts'
import openai from '../../plugins/providers/openai.ts'
import { running, unhurried } from '../environments.ts'
import type { Take } from '../fakes/recorded.ts'
import { backend, vector } from '../contracts/stage.ts'

type Name = 'first' | 'second' | 'google' | 'plain' | 'groq'

const json = { 'content-type': 'application/json' }
const counts = await vector('anthropic/count.json')
const contents = await vector('gemini/count.json')
const hello = [{ role: 'user', content: 'x'.repeat(400) }]

const counted: Take = { headers: json, body: counts }
const refusal = (status: number, error: object = { message: 'secret-of-the-backend' }): Take => ({
  status,
  headers: json,
  body: JSON.stringify({ type: 'error', error }),
})

/** Models by their chains. The backend `plain` gives no count of a chat, and `groq` cannot count. */
const chains: Readonly<Record<string, readonly Name[]>> = {
  claude: ['first', 'second'],
  gemini: ['google'],
  plain: ['plain'],
  'plain-first': ['plain', 'first'],
  'groq-first': ['groq', 'first'],
  'plain-last': ['first', 'plain'],
}

const opened = async (t: Test, settings: SettingsInput = {}, more: Partial<Adapters> = {}) => {
  const plays: Record<Name, Take> = {
    first: counted,
    second: { headers: json, body: '{"input_tokens":22}' },
    google: { headers: json, body: contents },
    plain: refusal(500),
    groq: refusal(500),
  }
  const backends = {
    first: await backend(t, () => plays.first),
    second: await backend(t, () => plays.second),
    google: await backend(t, () => plays.google),
    plain: await backend(t, () => plays.plain),
    groq: await backend(t, () => plays.groq),
  }
  const upstreams = [
    use(anthropic, { apiKey: 'k', baseUrl: backends.first.url }, 'first'),
    use(anthropic, { apiKey: 'k', baseUrl: backends.second.url }, 'second'),
    use(gemini, { apiKey: 'k', baseUrl: `${backends.google.url}/v1beta` }, 'google'),
    use(openai, { baseUrl: `${backends.plain.url}/v1` }, 'plain'),
    use(groq, { apiKey: 'k', baseUrl: `${backends.groq.url}/v1` }, 'groq'),
  ]
  const models = Object.fromEntries(
    Object.entries(chains).map(([name, chain]) => [
      name,
      { upstreams: chain.map((provider, at) => ({ provider, model: `${provider}-own`, priority: at + 1 })) },
    ]),
  )
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams, ...more },
    { models, ...unhurried, ...settings },
  )
  const asked = (name: Name) => backends[name].asked.map(({ path }) => path)
  const messages = async (model: string, more: object = {}, headers: Record<string, string> = {}) => {
    const answer = await gateway.call('POST', '/v1/messages/count_tokens', { model, messages: hello, ...more }, headers)
    return told(answer)
  }
  const google = async (model: string, body: object = { contents: [{ parts: [{ text: 'x'.repeat(400) }] }] }) =>
    told(await gateway.call('POST', `/v1beta/models/${model}:countTokens`, body))
  return { ...gateway, plays, backends, asked, messages, google }
}

const told = async (answer: Response) => ({
  status: answer.status,
  text: await answer.text(),
  estimated: answer.headers.get('x-sealgate-estimated'),
  headers: answer.headers,
})

t.test('a backend counts, and its own answer goes back where it speaks the dialect', async (t) => {
  const doors = await opened(t)
  const own = await doors.messages('claude', { system: 'Be short.' }, { 'anthropic-beta': 'one-2026-01-01' })
  t.match(own, { status: 200, estimated: null })
  t.equal(own.text.replaceAll(/\s/g, ''), counts.toString().replaceAll(/\s/g, ''))
  const [request] = doors.backends.first.asked
  t.equal(request!.headers['anthropic-beta'], 'one-2026-01-01')
  t.same(JSON.parse(request!.body.toString()), { messages: hello, system: 'Be short.', model: 'first-own' })
  const spaced = `{"model":"claude","messages":[{"role":"user",  "content":"Hi",   "a":1.0}]}`
  await fetch(`${doors.base}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { ...json, 'x-api-key': doors.key },
    body: spaced,
  })
  t.match(doors.backends.first.asked.at(-1)!.body.toString(), '[{"role":"user",  "content":"Hi",   "a":1.0}]')

  const content = await doors.google('gemini')
  t.match(content, { status: 200, estimated: null })
  t.same(JSON.parse(content.text), JSON.parse(contents.toString()), 'with the counts of its modalities')
  const whole = { model: 'models/gemini', contents: [{ parts: [{ text: 'Hi' }] }], systemInstruction: { parts: [] } }
  t.equal((await doors.google('gemini', { generateContentRequest: whole })).status, 200)
  const { generateContentRequest } = JSON.parse(doors.backends.google.asked.at(-1)!.body.toString())
  t.equal(generateContentRequest.model, 'models/google-own')

  t.same(JSON.parse((await doors.google('claude')).text), { totalTokens: 21 }, 'in the words of the door')
  const other = await doors.messages('gemini', { metadata: { user_id: 'a' } })
  t.same(JSON.parse(other.text), { input_tokens: 21 })
  t.equal(other.headers.get('x-sealgate-dropped'), 'metadata')
})

t.test('a count takes the way of a chat, and an estimate stands where that way has no counter', async (t) => {
  const doors = await opened(t)
  doors.plays.first = refusal(500)
  t.match(await doors.messages('claude'), { text: '{"input_tokens":22}', estimated: null }, 'the next backend counts')
  t.match(await doors.messages('plain'), { text: '{"input_tokens":105}', estimated: 'true' })
  t.match(await doors.google('plain'), { text: '{"totalTokens":105}', estimated: 'true' })
  t.match(await doors.messages('plain-first'), { text: '{"input_tokens":105}', estimated: 'true' }, 'other tokens')
  t.match(await doors.messages('groq-first'), { text: '{"input_tokens":105}', estimated: 'true' }, 'and so here')
  t.equal(doors.asked('first').length, 1)
  t.match(await doors.messages('plain-last'), { text: '{"input_tokens":105}', estimated: 'true' })
  t.equal(doors.asked('first').length, 2, 'each backend is asked once')
  t.equal(doors.asked('plain').length, 0)
})

t.test('a failing count is an estimate, and the chat goes on', async (t) => {
  const doors = await opened(t, { routing: { breaker: { faults: 2, rest: 60_000 } } })
  const long = { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' }
  for (const take of [refusal(400, long), refusal(429), refusal(404), { headers: json, body: '<p>' }]) {
    doors.plays.first = doors.plays.second = take
    t.match(await doors.messages('claude'), { status: 200, text: '{"input_tokens":105}', estimated: 'true' })
  }
  t.equal(doors.logged.filter(({ event }) => event === 'count.estimated').length, 4, 'the operator is told')
  t.notMatch(JSON.stringify(doors.logged), /secret-of-the-backend|prompt is too long/)
  const asked = doors.asked('first').length
  t.equal((await doors.messages('claude')).estimated, 'true')
  t.equal(doors.asked('first').length, asked, 'a counter that fails rests')
  doors.plays.first = { headers: json, body: await vector('anthropic/chat.json') }
  const chat = await doors.call('POST', '/v1/messages', { model: 'claude', max_tokens: 9, messages: hello })
  t.equal(chat.status, 200, 'its chats go on')
})

t.test('what is wrong with the request itself is an error', async (t) => {
  const doors = await opened(t)
  const malformed = await doors.messages('claude', { messages: 'Hi' })
  t.match([malformed.status, JSON.parse(malformed.text)], [400, { error: { type: 'invalid_request_error' } }])
  t.match(await doors.messages('claude', { container: 'c' }), { status: 400, text: /state_not_supported/ })
  t.match(await doors.messages('nobody'), { status: 404 })
  t.equal(doors.asked('first').length, 0, 'no backend is asked')
  doors.plays.first = refusal(400, { type: 'invalid_request_error', message: 'tools.0.name: String too long' })
  t.match(await doors.messages('claude'), { status: 400, text: /tools\.0\.name: String too long/, estimated: null })
  t.equal(doors.asked('second').length, 0)
})

t.test('limits of requests hold, and no token is taken', async (t) => {
  const doors = await opened(t, { limits: { key: { tokensPerMinute: 50, requestsPerSecond: null } } })
  for (let at = 0; at < 3; at++) t.match(await doors.messages('claude'), { status: 200, estimated: null })
  const chat = { model: 'claude', max_tokens: 1, messages: hello }
  t.equal((await doors.call('POST', '/v1/messages', chat)).status, 429, 'a chat of this length is beyond the allowance')
  const { credential } = await doors.gateway.keys.create({ limits: { requestsPerSecond: 1 } })
  const own = { authorization: `Bearer ${credential}` }
  const statuses = await Promise.all([1, 2, 3].map(async () => (await doors.messages('claude', {}, own)).status))
  t.same(statuses.sort(), [200, 429, 429])
})

t.test('guards see a prompt before a backend counts it', async (t) => {
  const doors = await opened(t, {}, { guards: [use(words, { lists: { house: { words: ['forbidden'] } } })] })
  const refused = await doors.messages('claude', { messages: [{ role: 'user', content: 'a forbidden thing' }] })
  t.match(refused, { status: 400, text: /guard_refused/ })
  t.equal(doors.asked('first').length, 0)
  t.match(await doors.messages('claude'), { status: 200, estimated: null })
})
