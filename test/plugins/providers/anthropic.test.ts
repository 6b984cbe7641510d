import Anthropic from '@anthropic-ai/sdk'
import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import type { ChatBody, Native } from '../../../core/ports/upstream.ts'
import anthropic from '../../../plugins/providers/anthropic.ts'
import type { Asked, Take } from '../../fakes/recorded.ts'
import { backend, eventStream, everyCut, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { type Compared, bodyOf, compare, comparedOf, json, messages, never, whole } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: anthropic,
  settings: (url) => ({ apiKey: 'sk-ant-1', baseUrl: url }),
  model: 'claude-sonnet-4-6',
  vectors: 'anthropic',
  stream: eventStream,
  lists: /^\/v1\/models\?limit=1000$/,
  chats: /^\/v1\/messages$/,
  counts: /^\/v1\/messages\/count_tokens$/,
}

const sse = { 'content-type': 'text/event-stream; charset=utf-8' }

t.test('contracts', (t) => keepsContracts(t, recording))

t.test(
  'a prompt is counted as the vendor’s own client counts it, with the members that decide its tokens',
  async (t) => {
    const server = await backend(t, async () => ({ headers: json, body: await vector('anthropic/count.json') }))
    const ours = await provided(t, anthropic, { apiKey: 'sk-ant-1', baseUrl: server.url })
    const theirs = new Anthropic({ apiKey: 'sk-ant-1', baseURL: server.url, maxRetries: 0 })
    const model = 'claude-sonnet-4-6'
    const tools = [{ name: 'weather', description: 'Tells it.', input_schema: { type: 'object' as const } }]
    const asked = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }]
    const body = {
      messages: [{ role: 'system', content: 'Be short.' }, ...messages],
      tools: [
        { type: 'function', function: { name: 'weather', description: 'Tells it.', parameters: { type: 'object' } } },
      ],
      temperature: 0.5,
      stop: 'END',
      max_tokens: 9,
    }
    t.same(await ours.countTokens!({ model, body }, never), { tokens: 21 })
    await theirs.messages.countTokens({ model, system: 'Be short.', messages: asked, tools })
    compare(t, server)

    const kept = { messages, cache_control: { type: 'ephemeral' }, tool_choice: { type: 'auto' }, tools }
    const headers = { 'anthropic-beta': 'one,two', 'anthropic-version': '2023-06-01' }
    const native = {
      dialect: 'messages',
      body: { ...kept, max_tokens: 9, metadata: {}, stop_sequences: ['a'] },
      headers,
    }
    const counted = await ours.countTokens!({ model, body: { messages }, native: native as Native }, never)
    t.match(counted, { tokens: 21, native: { dialect: 'messages', body: { input_tokens: 21 } } })
    t.same(bodyOf(server.asked.at(-1)!), { ...kept, model })
    t.match(server.asked.at(-1)!.headers, headers, 'betas and version byte for byte')
  },
)

t.test('a stream without message_stop throws, wherever it ends', async (t) => {
  const { bytes, fooled } = await everyCut(t, recording)
  t.ok(bytes > 2000)
  t.same(fooled, [bytes])
})

t.test('answers have the common format', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const { created, ...answer } = await whole(
      await stage.upstream.chat!({ model: 'm', stream, body: { messages } }, never),
    )
    t.equal(Math.abs(created - Date.now() / 1000) < 60, true)
    t.same(answer, {
      id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
      object: 'chat.completion',
      model: 'claude-sonnet-4-6',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Two cafés, a 😀 and "10": 2.\nDone.',
            reasoning_content: 'We count them.',
            thinking_blocks: JSON.parse((await vector('anthropic/chat.json')).toString()).content.slice(0, 2),
          },
          finish_reason: 'stop',
          native_finish_reason: 'end_turn',
        },
      ],
      usage: {
        prompt_tokens: 14 + 8 + 1024,
        completion_tokens: 31,
        total_tokens: 1077,
        prompt_tokens_details: { cached_tokens: 1024 },
        completion_tokens_details: { reasoning_tokens: 9 },
        cache_creation_input_tokens: 8,
        cache_read_input_tokens: 1024,
        cache_creation: { ephemeral_5m_input_tokens: 8, ephemeral_1h_input_tokens: 0 },
        service_tier: 'standard',
        inference_geo: 'global',
      },
    })
  }
})

const head = (id: string, more: object = {}) => ({
  type: 'message_start',
  message: { id, role: 'assistant', content: [], model: 'm', usage: { input_tokens: 3 }, ...more },
})
const saying = (text: string) => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index: 0 },
]
const ending = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

t.test('a head that comes twice is one, and a second answer in a stream is none', async (t) => {
  const streamed = async (events: readonly object[]) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const server = await backend(t, () => ({ headers: { 'content-type': 'text/event-stream' }, body }))
    const upstream = await provided(t, anthropic, { apiKey: 'k', baseUrl: server.url })
    return whole(await upstream.chat!({ model: 'm', stream: true, body: { messages } }, never))
  }
  const twice = await streamed([head('one'), head('one'), ...saying('Hi'), ...ending])
  t.match(twice, { id: 'one', choices: [{ message: { content: 'Hi' } }], usage: { prompt_tokens: 3 } })
  await t.rejects(streamed([head('one'), ...saying('Hi'), head('two'), ...saying('Ho'), ...ending]), UpstreamFailed)
  await t.rejects(streamed([head('one'), saying('')[0]!, head('two'), ...saying('Ho'), ...ending]), UpstreamFailed)

  const call = { type: 'tool_use', id: 'toolu_1', name: 'roll', input: { die: 6 }, caller: { type: 'code' } }
  const { choices } = await streamed([head('one', { content: [call], stop_reason: 'tool_use' }), ending[1]!])
  t.match(choices, [
    { finish_reason: 'tool_calls', message: { tool_calls: [{ id: 'toolu_1', caller: { type: 'code' } }] } },
  ])
  t.equal(choices[0]!.message.tool_calls![0]!.function.arguments, '{"die":6}', 'a call that stands in the head')
})

t.test('requests equal those of the vendor’s own client', async (t) => {
  const server = await backend(t, async ({ path, body }) => {
    if (path.startsWith('/v1/models')) {
      return { headers: json, body: await vector(`anthropic/models-${path.includes('after_id') ? 2 : 1}.json`) }
    }
    const stream = body.includes('"stream":true')
    return { headers: stream ? sse : json, body: await vector(`anthropic/chat.${stream ? 'sse' : 'json'}`) }
  })
  const ours = await provided(t, anthropic, { apiKey: 'sk-ant-1', baseUrl: `${server.url}/` })
  const theirs = new Anthropic({ apiKey: 'sk-ant-1', baseURL: server.url, maxRetries: 0 })

  const compared = async ({ model, stream, ours: body, theirs: their }: Compared) => {
    await whole(await ours.chat!({ model, stream, body: body as ChatBody }, never))
    const message: any = await theirs.messages.create({
      model,
      ...structuredClone(their),
      ...(stream && { stream }),
    } as never)
    if (stream) for await (const _ of message);
    const [one, other] = server.asked as [Asked, Asked]
    const version = 'temperature' in their || 'top_p' in their ? '2023-06-01' : other.headers['anthropic-version']
    t.equal(one.headers['anthropic-version'], version)
    compare(t, server, ['authorization', 'content-type'])
  }

  for (const pair of await comparedOf('anthropic')) await compared(pair)

  const listed = await ours.models(never)
  const all: string[] = []
  for await (const { id } of theirs.models.list({ limit: 1000 })) all.push(id)
  t.same(
    listed.map(({ id }) => id),
    all,
  )
  const paths = server.asked.map(({ path }) => path)
  t.equal(paths.length, 4)
  const queries = (from: number) => paths.slice(from, from + 2).map((path) => new URL(path, 'http://x').searchParams)
  t.same(
    queries(0).map((query) => [...query].sort()),
    queries(2).map((query) => [...query].sort()),
  )
  t.same(listed, [
    { id: 'claude-sonnet-4-6', type: 'CHAT', description: 'Claude Sonnet 4.6', modalities: ['text', 'image'] },
    { id: 'claude-haiku-4-5-20251001', type: 'CHAT', description: 'Claude Haiku 4.5', modalities: ['text'] },
  ])
})

/** What it asks for a body, and what it makes of the given answer. */
const exchange = async (t: Parameters<typeof provided>[0], take: Take, settings = {}) => {
  const server = await backend(t, () => take)
  const upstream = await provided(t, anthropic, { apiKey: 'k', baseUrl: server.url, ...settings })
  return {
    asked: () => bodyOf(server.asked.at(-1)!),
    chat: async (model: string, body: object, stream = false, prefix?: string) =>
      whole(
        await upstream.chat!(
          { model, stream, body: { messages, ...body }, ...(prefix !== undefined && { prefix }) },
          never,
        ),
      ),
  }
}

t.test('a turn without its earlier thoughts asks for no more thinking', async (t) => {
  const { chat, asked } = await exchange(t, { headers: json, body: await vector('anthropic/chat.json') })
  const called = (more: object) => ({
    reasoning_effort: 'low',
    messages: [
      ...messages,
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        ...more,
      },
      { role: 'tool', tool_call_id: 'a', content: '' },
    ],
  })
  await chat('claude-opus-4-5', called({}))
  t.equal(asked().thinking, undefined)
  t.same(asked().messages[2].content, [{ type: 'tool_result', tool_use_id: 'a' }])
  await chat('claude-opus-4-5', called({ thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] }))
  t.same(asked().thinking, { type: 'enabled', budget_tokens: 6400 })
  await chat('claude-opus-4-5', { reasoning_effort: 'high', max_tokens: 1024 })
  t.equal(asked().thinking, undefined, 'no room')
  await chat('claude-opus-4-5', { thinking: { type: 'enabled', budget_tokens: 2000 }, reasoning_effort: 'low' })
  t.same(asked().thinking, { type: 'enabled', budget_tokens: 2000 }, 'their own words win')
})

t.test('answers follow a JSON schema', async (t) => {
  const input = { sky: 'blue', n: [1, 2] }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'json_answer', input }
  const message = { ...JSON.parse((await vector('anthropic/tools.json')).toString()), content: [use] }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { ...use, input: {} } },
    ...['{"sky":"bl', 'ue","n":[1,2]}'].map((partial_json) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const schema = { type: 'object', properties: {} }
  const named = { type: 'json_schema', json_schema: { name: 'x', schema } }
  for (const streamed of [false, true]) {
    const { chat, asked } = await exchange(
      t,
      streamed ? { headers: sse, body: stream } : { headers: json, body: JSON.stringify(message) },
    )
    const { choices } = await chat('claude-3-haiku-20240307', { response_format: named }, streamed)
    t.equal(choices[0]!.message.content, '{"sky":"blue","n":[1,2]}')
    t.equal(choices[0]!.message.tool_calls, undefined)
    t.equal(choices[0]!.finish_reason, 'stop')
    t.same(asked().tool_choice, { type: 'tool', name: 'json_answer' })
    t.same(asked().tools[0].input_schema, schema)
    const tools = [{ type: 'function', function: { name: 'f' } }]
    await chat('claude-opus-5', { response_format: { type: 'json_object' }, tools, reasoning_effort: 'low' }, streamed)
    t.same(asked().tool_choice, { type: 'any' })
    t.same(
      asked().tools.map(({ name }: { name: string }) => name),
      ['f', 'json_answer'],
    )
    t.equal(asked().thinking, undefined, 'a forced call has no thoughts')
  }
  const { chat, asked } = await exchange(t, { headers: json, body: await vector('anthropic/chat.json') })
  const system = { role: 'system', content: 'Be short.' }
  await chat('claude-opus-5-5', { response_format: { type: 'json_object' }, messages: [system, ...messages] })
  t.equal(asked().system, 'Be short.\nAnswer with one JSON object and nothing else.', 'calls can’t be forced')
  t.equal(asked().tools, undefined)
})

t.test('a model that continues a prefix gets the prefix', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const answer = await stage.upstream.chat!(
      { model: 'claude-3-5-haiku-latest', stream, body: { messages, reasoning_effort: 'low' }, prefix: 'One, Tw \n' },
      never,
    )
    t.match((await whole(answer)).choices[0]!.message.content, /^Two cafés/)
    const { messages: sent, thinking } = stage.asked() as any
    t.same(sent.at(-1), { role: 'assistant', content: [{ type: 'text', text: 'One, Tw' }] }, 'no space at the end')
    t.equal(thinking, undefined)
  }
  const said = async (text: string, prefix: string, streamed: boolean) => {
    const recorded = (await vector(`anthropic/chat.${streamed ? 'sse' : 'json'}`)).toString()
    const body = recorded.replace(/"Two( cafés, a)?/, (match) => `"${text}${match.slice(1)}`)
    const { chat } = await exchange(t, { headers: streamed ? sse : json, body })
    return (await chat('claude-3-5-haiku-latest', {}, streamed, prefix)).choices[0]!.message.content
  }
  for (const streamed of [false, true]) {
    t.match(await said(' ', 'One and ', streamed), /^Two/, 'what the prefix has said already is left out')
    t.match(await said('  ', 'One and ', streamed), /^ Two/)
    t.match(await said(' ', 'One and', streamed), /^ Two/)
  }
  stage.scene('refuses')
  const refused = stage.upstream.chat!(
    { model: 'claude-opus-5-5', stream: true, body: { messages }, prefix: 'One' },
    never,
  )
  await t.rejects(refused, new UpstreamFailed(undefined, { again: true, answered: 400 }))
})

t.test('members beyond the common format return with the next turn', async (t) => {
  const both: unknown[] = []
  for (const streamed of [false, true]) {
    const body = await vector(`anthropic/search.${streamed ? 'sse' : 'json'}`)
    const { chat, asked } = await exchange(t, { headers: streamed ? sse : json, body })
    const { choices } = await chat('m', {}, streamed)
    both.push(choices)
    t.equal(choices[0]!['native_finish_reason'], 'pause_turn')
    const { message } = choices[0]!
    await chat('m', { messages: [...messages, message] }, streamed)
    t.same(
      asked().messages[1].content.map(({ type }: { type: string }) => type),
      ['server_tool_use', 'web_search_tool_result', 'text'],
    )
    t.same(asked().messages[1].content[0].input, { query: 'cafes in Lima' })
    t.equal((message['citations'] as unknown[]).length, 1)
  }
  t.same(both[0], both[1])
})

t.test('faults of the backend become errors of the gateway', async (t) => {
  const { chat } = await exchange(t, { status: 529, headers: json, body: await vector('anthropic/error-529.json') })
  await t.rejects(chat('m', {}), new UpstreamFailed(undefined, { again: true, answered: 529 }))
  const unpaid = {
    error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' },
  }
  const poor = await exchange(t, { status: 400, headers: json, body: JSON.stringify(unpaid) })
  await t.rejects(
    poor.chat('m', {}),
    new UpstreamFailed(undefined, { again: true, answered: 400, code: 'insufficient_quota' }),
  )
  const stage = await staged(t, recording)
  stage.scene('page')
  await t.rejects(
    stage.upstream.chat!({ model: 'm', stream: true, body: { messages } }, never),
    UpstreamFailed,
    'at once',
  )
  const stopped = (await vector('anthropic/chat.sse')).toString().replace(/event: message_delta\n.*\n\n/, '')
  const odd = await exchange(t, { headers: sse, body: stopped })
  await t.rejects(odd.chat('m', {}, true), UpstreamFailed, 'an end without a reason')
  const text = (await vector('anthropic/chat.json')).toString()
  for (const [theirs, ours] of [
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
    ['stop_sequence', 'stop'],
    ['model_context_window_exceeded', 'length'],
  ] as const) {
    const pair = await exchange(t, { headers: json, body: text.replace('end_turn', theirs) })
    t.equal((await pair.chat('m', {})).choices[0]!.finish_reason, ours)
  }
})

t.test('a request beyond the vendor’s format is the caller’s mistake', async (t) => {
  const { chat } = await exchange(t, { status: 500, body: '' })
  const wrong: object[] = [
    { n: 2 },
    { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }] }] },
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }] },
    { messages: [{ role: 'function', name: 'f', content: '1' }] },
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '[1]' } }] },
      ],
    },
  ]
  for (const body of wrong) await t.rejects(chat('m', body), BadRequest)
})

t.test('wrong settings are refused', async (t) => {
  t.throws(() => use(anthropic, {}), /apiKey, or passCallerKey/)
  t.throws(() => use(anthropic, { passCallerKey: false }), /apiKey, or passCallerKey/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(anthropic, { apiKey: 'k', generation: { thinks: 'hard' } }), /generation.thinks/)
  const own = { betas: ['a-1', 'b-2'], generation: { thinks: 'never', maxTokens: 77, samples: true } }
  const server = await backend(t, async () => ({ headers: json, body: await vector('anthropic/chat.json') }))
  const upstream = await provided(t, anthropic, { apiKey: 'k', baseUrl: server.url, ...own })
  await upstream.chat!(
    { model: 'other-1', stream: false, body: { messages, temperature: 0.5, reasoning_effort: 'low' } },
    never,
  )
  t.equal(server.asked[0]!.headers['anthropic-beta'], 'a-1,b-2')
  t.match(bodyOf(server.asked[0]!), { max_tokens: 77, temperature: 0.5, thinking: undefined, output_config: undefined })
})
