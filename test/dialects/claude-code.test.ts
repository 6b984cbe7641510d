import t, { type Test } from 'tap'
import { eventsOf, opened, type Doors } from '../fakes/doors.ts'
import { overflow } from '../fakes/overflows.ts'
import type { Asked, Take } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

const json = { 'content-type': 'application/json' }

const answering = scripted(() => [{ think: 'Let me see.', signature: 'c2lnbmVk' }, { say: 'Hello there.' }])

/** Sentences by which the program knows what to leave out of its next try. */
const rejections = [
  'messages.2.content.0: Invalid `signature` in `thinking` block',
  'thinking.type: adaptive thinking is not supported on this model',
  'messages.1: role system is not supported in the middle of a conversation',
  'context_management: Extra inputs are not permitted',
]

/** Headers in which a vendor tells of the operator's account. */
const accounts = {
  'anthropic-ratelimit-unified-status': 'allowed_warning',
  'anthropic-organization-id': 'secret-account',
  'cf-ray': 'secret-account',
  via: 'secret-account',
}

/** A backend that fails where the conversation wishes so. */
const play = (request: Asked): Take => {
  const told = request.body.toString()
  const rejection = rejections.find((_, at) => told.includes(`wish-reject-${at}`))
  const failing = (status: number, type: string, headers = {}): Take => ({
    status,
    headers: { ...json, ...headers },
    body: JSON.stringify({ type: 'error', error: { type, message: 'arn:secret-account' } }),
  })
  if (told.includes('wish-overflow')) return overflow(request)
  if (told.includes('wish-limit')) return failing(429, 'rate_limit_error', { 'retry-after': '7' })
  if (told.includes('wish-deny')) return failing(401, 'authentication_error')
  if (rejection !== undefined)
    return { ...failing(400, 'invalid_request_error'), body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: rejection } }) } // prettier-ignore
  const answer = answering(request)
  if (told.includes('wish-begin')) return { ...answer, pace: { stall: String(answer.body).indexOf('signature_delta') } }
  if (told.includes('wish-silence')) return { body: '', pace: 'silent' }
  if (!told.includes('safeguards')) return { ...answer, headers: { ...answer.headers, ...accounts } }
  return { ...answer, body: String(answer.body).replace('"role"', '"safeguard_results":[{"verdict":"fine"}],"role"') }
}

const hello = [{ role: 'user', content: 'Hi' }]

const post = (doors: Doors, body: object = {}, headers: Record<string, string> = {}, path = '/v1/messages') =>
  doors.call('POST', path, { model: 'messages', max_tokens: 100, messages: hello, ...body }, headers)

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
  tools: [
    { name: 'look', input_schema: { type: 'object' }, strict: true, defer_loading: true, eager_input_streaming: true },
  ],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high', task_budget: { type: 'tokens', total: 9000 } },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'user_1_session_2' },
}

/** The text of a stream until it has what is looked for, or has grown long without it; then the caller leaves. */
const readUntil = async (answer: Response, sought: RegExp): Promise<string> => {
  let text = ''
  for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += part
    if (sought.test(text) || text.length > 4_000) break
  }
  return text
}

/** The rows of the contract that Claude Code publishes for gateways of the Messages format. */
const contract: Readonly<Record<string, (t: Test, doors: Doors) => Promise<void>>> = {
  'A path is matched without its query.': async (t, doors) => {
    t.equal((await post(doors, {}, {}, '/v1/messages?beta=true')).status, 200)
    t.equal((await post(doors, {}, {}, '/v1/messages/count_tokens?beta=true')).status, 200)
  },
  'The key comes as a bearer token, as x-api-key, or as both.': async (t, doors) => {
    const body = JSON.stringify({ model: 'messages', max_tokens: 9, messages: hello })
    const [bearer, own] = [{ authorization: `Bearer ${doors.key}` }, { 'x-api-key': doors.key }]
    for (const headers of [bearer, own, { ...bearer, ...own }])
      t.equal((await fetch(`${doors.base}/v1/messages`, { method: 'POST', headers: { ...json, ...headers } as Record<string, string>, body })).status, 200) // prettier-ignore
  },
  'Betas and version reach the backend byte for byte.': async (t, doors) => {
    const headers = { 'anthropic-beta': 'claude-code-20250219,a-2026-01-01, b-2026-02-02', 'anthropic-version': '2023-06-01' } // prettier-ignore
    await post(doors, {}, headers)
    t.match(doors.backend.asked.at(-1)!.headers, headers)
  },
  'The backend gets a key of its own, and none of the caller’s.': async (t, doors) => {
    await post(doors)
    const { headers } = doors.backend.asked.at(-1)!
    t.match([headers['x-api-key'], headers.authorization].join(' '), /(^| )k( |$)/)
    t.notMatch(JSON.stringify(headers), doors.key)
  },
  'The body reaches the backend as it is, but for the name of the model.': async (t, doors) => {
    const answer = await post(doors, rich)
    t.equal(answer.headers.get('x-sealgate-dropped'), null)
    const { model, max_tokens, ...rest } = JSON.parse(doors.backend.asked.at(-1)!.body.toString())
    t.same([model, max_tokens], ['claude-opus-4-8', 100])
    t.equal(JSON.stringify(rest.messages), JSON.stringify(rich.messages), 'members in their order')
    t.equal(JSON.stringify(rest.system), JSON.stringify(rich.system))
    t.same(rest, rich)
  },
  'The session of a request and its agents are read or left, and the backend is not told.': async (t, doors) => {
    const names = ['session-id', 'agent-id', 'parent-agent-id'].map((name) => `x-claude-code-${name}`)
    t.equal((await post(doors, {}, Object.fromEntries(names.map((name) => [name, 'a-session'])))).status, 200)
    t.notMatch(JSON.stringify(doors.backend.asked.at(-1)!.headers), 'a-session')
  },
  'No header, beta or member is refused because nobody knows it.': async (t, doors) => {
    const headers = { 'anthropic-beta': 'unheard-of-2099-01-01', 'anthropic-unheard': 'a', 'x-stainless-lang': 'js', 'x-app': 'cli', 'x-own': 'a' } // prettier-ignore
    const answer = await post(doors, { unheard_of: { a: 1 } }, headers)
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('x-sealgate-dropped'), 'unheard_of', 'a member that is left out is told')
    t.equal(doors.backend.asked.at(-1)!.headers['anthropic-beta'], 'unheard-of-2099-01-01')
  },
  'A safety check that is asked of the vendor reaches it, and its result comes back.': async (t, doors) => {
    const safeguards = { checks: ['auto_mode'] }
    const answer = await post(doors, { safeguards })
    t.same(doors.asked().safeguards, safeguards)
    t.same(((await answer.json()) as any).safeguard_results, [{ verdict: 'fine' }])
  },
  'Where no vendor can run it, a 400 names the member, and the program runs the check itself.': async (t, doors) => {
    const before = doors.backend.asked.length
    for (const stream of [false, true]) {
      const answer = await post(doors, { model: 'chat', stream, safeguards: { checks: ['auto_mode'] } })
      t.equal(answer.status, 400)
      t.match(await answer.json(), { error: { type: 'invalid_request_error', message: /safeguards/ } })
    }
    t.equal(doors.backend.asked.length, before, 'no backend is asked')
  },
  'Events go on as they come.': async (t, doors) => {
    const answer = await post(doors, { ...wishing('begin'), stream: true })
    t.match(await readUntil(answer, /thinking_delta/), 'thinking_delta', 'before the backend says more')
  },
  'A stream has signs of life while the backend is silent.': async (t, doors) => {
    const answer = await post(doors, { ...wishing('silence'), stream: true })
    t.match(await readUntil(answer, /^: \w/m), /^: \w/)
  },
  'A stream has every event of thinking, with its signature.': async (t, doors) => {
    const events = eventsOf(await (await post(doors, { stream: true })).text())
    t.match(events[0], { type: 'message_start', message: { model: 'messages' } })
    const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [delta.type ?? delta.stop_reason]))
    t.same([...new Set(deltas)], ['thinking_delta', 'signature_delta', 'text_delta', 'end_turn'])
    t.equal(events.find(({ delta }) => delta?.type === 'signature_delta').delta.signature, 'c2lnbmVk')
  },
  'Tokens are counted, or estimated.': async (t, doors) => {
    for (const [model, estimated] of [
      ['messages', null],
      ['chat', 'true'],
    ] as const) {
      const answer = await post(doors, { model }, {}, '/v1/messages/count_tokens')
      t.equal(answer.headers.get('x-sealgate-estimated'), estimated)
      t.type(((await answer.json()) as any).input_tokens, 'number')
    }
  },
  'An overflow is a 400 in the words on which the program compacts.': async (t, doors) => {
    for (const stream of [false, true]) {
      const answer = await post(doors, { ...wishing('overflow'), stream })
      t.equal(answer.status, 400)
      t.match(await answer.json(), { type: 'error', error: { type: 'invalid_request_error', message: /prompt is too long/ } }) // prettier-ignore
    }
  },
  'A sentence on which the program leaves something out goes on as it is.': async (t, doors) => {
    for (const [at, sentence] of rejections.entries()) {
      const answer = await post(doors, wishing(`reject-${at}`))
      t.equal(answer.status, 400)
      const { error } = (await answer.json()) as any
      t.ok(error.type === 'invalid_request_error' && error.message.includes(sentence), error.message)
    }
  },
  'A limit of the backend keeps its status, its type and its pause.': async (t, doors) => {
    const answer = await post(doors, wishing('limit'))
    t.equal(answer.status, 429)
    t.ok(Number(answer.headers.get('retry-after')) >= 7, 'no sooner than the backend says')
    t.match(await answer.json(), { type: 'error', error: { type: 'rate_limit_error' }, request_id: String })
  },
  'Words of the backend that may name an account are not passed on.': async (t, doors) => {
    for (const wish of ['limit', 'deny']) t.notMatch(await (await post(doors, wishing(wish))).text(), 'secret-account')
  },
  'Headers in which a vendor tells of the operator’s account are not passed on.': async (t, doors) => {
    for (const stream of [false, true]) {
      const answer = await post(doors, { stream })
      await answer.text()
      for (const name of Object.keys(accounts)) t.equal(answer.headers.get(name), null, name)
    }
  },
  'A wrong key is a 401 that is not to be tried again.': async (t, doors) => {
    const answer = await post({ ...doors, call: (method, path, body, headers) => fetch(doors.base + path, { method, body: JSON.stringify(body), headers: { ...json, ...headers, 'x-api-key': 'sk-wrong' } }) }) // prettier-ignore
    t.same([answer.status, answer.headers.get('x-should-retry')], [401, 'false'])
    t.match(await answer.json(), { type: 'error', error: { type: 'authentication_error' } })
  },
  'A body over its limit is a 413.': async (t, doors) => {
    const answer = await post(doors, { messages: [{ role: 'user', content: 'a'.repeat(40_000) }] })
    t.equal(answer.status, 413)
    t.match(await answer.json(), { type: 'error', error: { type: 'request_too_large' } })
  },
  'An error tells the id by which the operator finds it.': async (t, doors) => {
    const answer = await post(doors, { model: 'nobody' })
    const { request_id } = (await answer.json()) as any
    t.equal(request_id, answer.headers.get('request-id'))
  },
  'Models are listed with their names.': async (t, doors) => {
    for (const key of [{ authorization: `Bearer ${doors.key}` }, { 'x-api-key': doors.key }]) {
      const headers = { 'anthropic-version': '2023-06-01', ...key } as Record<string, string>
      const answer = await fetch(`${doors.base}/v1/models?limit=1000`, { headers, redirect: 'error' })
      const { data } = (await answer.json()) as any
      t.match(data, [{ type: 'model', id: String, display_name: String }])
    }
  },
  'The gateway greets a program that looks for it.': async (t, doors) => {
    t.equal((await fetch(doors.base, { method: 'HEAD' })).status, 200)
  },
  'What belongs to signing in at the vendor’s own gateway is a 404, which the program takes for an answer.': async (
    t,
    doors,
  ) => {
    for (const path of [
      '/protocol',
      '/.well-known/oauth-authorization-server',
      '/managed/settings',
      '/api/oauth/usage',
      '/api/hello',
    ])
      t.equal((await doors.call('GET', path)).status, 404, path)
    for (const path of ['/oauth/device_authorization', '/oauth/token', '/v1/metrics', '/v1/logs', '/v1/traces'])
      t.equal((await doors.call('POST', path, {})).status, 404, path)
  },
}

/** Signs of life come soon, and a body is soon too large. */
const settings = { timeouts: { heartbeat: 50 }, bodies: { chat: 30_000 } }

t.test('the gateway keeps what Claude Code asks of gateways', async (t) => {
  for (const [sentence, check] of Object.entries(contract))
    await t.test(sentence, async (t) => check(t, await opened(t, play, {}, settings)))
})
