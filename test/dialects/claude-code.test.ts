import t, { type Test } from 'tap'
import { eventsOf, opened, type Doors } from '../fakes/doors.ts'
import { overflow } from '../fakes/overflows.ts'
import type { Asked, Take } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

const json = { 'content-type': 'application/json' }

const answering = scripted(() => [{ think: 'Let me see.', signature: 'c2lnbmVk' }, { say: 'Hello there.' }])

/** A backend that fails where the conversation wishes so. */
const play = (asked: Asked): Take => {
  const told = asked.body.toString()
  const failing = (status: number, type: string, headers = {}): Take => ({
    status,
    headers: { ...json, ...headers },
    body: JSON.stringify({ type: 'error', error: { type, message: 'arn:secret-account' } }),
  })
  if (told.includes('wish-overflow')) return overflow(asked)
  if (told.includes('wish-limit')) return failing(429, 'rate_limit_error', { 'retry-after': '7' })
  if (told.includes('wish-deny')) return failing(401, 'authentication_error')
  return answering(asked)
}

const hello = [{ role: 'user', content: 'Hi' }]

const post = (it: Doors, body: object = {}, headers: Record<string, string> = {}, path = '/v1/messages') =>
  it.call('POST', path, { model: 'messages', max_tokens: 100, messages: hello, ...body }, headers)

const wishing = (wish: string) => ({ messages: [{ role: 'user', content: `wish-${wish}` }] })

/** What the newest Claude Code sends, as its contract has it. */
const rich = {
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;' },
    { type: 'text', text: 'You help.', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
    { role: 'system', content: 'The date is known.' },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'One.', signature: 'b25l' }, { type: 'text', text: 'Yes.' }] }, // prettier-ignore
    { role: 'user', content: 'And?' },
  ],
  tools: [{ name: 'look', input_schema: { type: 'object' }, defer_loading: true, eager_input_streaming: true }],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'user_1_session_2' },
}

/** The rows of the contract that Claude Code publishes for gateways of the Messages format. */
const contract: Readonly<Record<string, (t: Test, it: Doors) => Promise<void>>> = {
  'A path is matched without its query.': async (t, it) => {
    t.equal((await post(it, {}, {}, '/v1/messages?beta=true')).status, 200)
    t.equal((await post(it, {}, {}, '/v1/messages/count_tokens?beta=true')).status, 200)
  },
  'The key comes as a bearer token or as x-api-key.': async (t, it) => {
    const body = JSON.stringify({ model: 'messages', max_tokens: 9, messages: hello })
    for (const headers of [{ authorization: `Bearer ${it.key}` }, { 'x-api-key': it.key }])
      t.equal((await fetch(`${it.base}/v1/messages`, { method: 'POST', headers: { ...json, ...headers } as Record<string, string>, body })).status, 200) // prettier-ignore
  },
  'Betas and version reach the backend byte for byte.': async (t, it) => {
    const headers = { 'anthropic-beta': 'claude-code-20250219,a-2026-01-01, b-2026-02-02', 'anthropic-version': '2023-06-01' } // prettier-ignore
    await post(it, {}, headers)
    t.match(it.backend.asked.at(-1)!.headers, headers)
  },
  'The backend gets a key of its own, and none of the caller’s.': async (t, it) => {
    await post(it)
    const { headers } = it.backend.asked.at(-1)!
    t.match([headers['x-api-key'], headers.authorization].join(' '), /(^| )k( |$)/)
    t.notMatch(JSON.stringify(headers), it.key)
  },
  'The body reaches the backend as it is, but for the name of the model.': async (t, it) => {
    const answer = await post(it, rich)
    t.equal(answer.headers.get('x-sealgate-dropped'), null)
    const { model, max_tokens, ...rest } = JSON.parse(it.backend.asked.at(-1)!.body.toString())
    t.same([model, max_tokens], ['claude-opus-4-8', 100])
    t.equal(JSON.stringify(rest.messages), JSON.stringify(rich.messages), 'members in their order')
    t.equal(JSON.stringify(rest.system), JSON.stringify(rich.system))
    t.same(rest, rich)
  },
  'The session of a request is read, and the backend is not told.': async (t, it) => {
    t.equal((await post(it, {}, { 'x-claude-code-session-id': 'a-session' })).status, 200)
    t.notMatch(JSON.stringify(it.backend.asked.at(-1)!.headers), 'a-session')
  },
  'A stream has every event of thinking, with its signature.': async (t, it) => {
    const events = eventsOf(await (await post(it, { stream: true })).text())
    t.match(events[0], { type: 'message_start', message: { model: 'messages' } })
    const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [delta.type ?? delta.stop_reason]))
    t.same([...new Set(deltas)], ['thinking_delta', 'signature_delta', 'text_delta', 'end_turn'])
    t.equal(events.find(({ delta }) => delta?.type === 'signature_delta').delta.signature, 'c2lnbmVk')
  },
  'Tokens are counted, or estimated.': async (t, it) => {
    const answer = await post(it, {}, {}, '/v1/messages/count_tokens')
    t.equal(answer.headers.get('x-sealgate-estimated'), 'true')
    t.type(((await answer.json()) as any).input_tokens, 'number')
  },
  'An overflow is a 400 in the words on which the program compacts.': async (t, it) => {
    for (const stream of [false, true]) {
      const answer = await post(it, { ...wishing('overflow'), stream })
      t.equal(answer.status, 400)
      t.match(await answer.json(), { type: 'error', error: { type: 'invalid_request_error', message: /prompt is too long/ } }) // prettier-ignore
    }
  },
  'A limit of the backend keeps its status, its type and its pause.': async (t, it) => {
    const answer = await post(it, wishing('limit'))
    t.equal(answer.status, 429)
    t.ok(Number(answer.headers.get('retry-after')) >= 7, 'no sooner than the backend says')
    t.match(await answer.json(), { type: 'error', error: { type: 'rate_limit_error' }, request_id: String })
  },
  'Words of the backend that may name an account are not passed on.': async (t, it) => {
    for (const wish of ['limit', 'deny']) t.notMatch(await (await post(it, wishing(wish))).text(), 'secret-account')
  },
  'An error tells the id by which the operator finds it.': async (t, it) => {
    const answer = await post(it, { model: 'nobody' })
    const { request_id } = (await answer.json()) as any
    t.equal(request_id, answer.headers.get('request-id'))
  },
  'Models are listed with their names.': async (t, it) => {
    const answer = await it.call('GET', '/v1/models?limit=1000', undefined, { 'anthropic-version': '2023-06-01' })
    const { data } = (await answer.json()) as any
    t.match(data, [{ type: 'model', id: String, display_name: String }])
  },
  'The gateway greets a program that looks for it.': async (t, it) => {
    t.equal((await fetch(it.base, { method: 'HEAD' })).status, 200)
  },
}

t.test('the gateway keeps what Claude Code asks of gateways', async (t) => {
  for (const [sentence, check] of Object.entries(contract))
    await t.test(sentence, async (t) => check(t, await opened(t, play)))
})
