import Anthropic from '@anthropic-ai/sdk'
import t from 'tap'
import { eventsOf, opened, type Doors } from '../fakes/doors.ts'
import type { Asked } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

const hello = scripted(() => [{ think: 'Let me see.', signature: 'c2lnbmVk' }, { say: 'Hello there.' }])

const user = (content: unknown) => ({ role: 'user', content })

const post = (doors: Doors, body: object, headers: Record<string, string> = {}) =>
  doors.call('POST', '/v1/messages', { model: 'messages', max_tokens: 100, messages: [user('Hi')], ...body }, headers)

const ephemeral = { cache_control: { type: 'ephemeral' } }

/** As coding programs ask: caching, betas, instructions in the middle, tools with all that they may have. */
const rich = {
  system: [{ type: 'text', text: 'You help.', ...ephemeral }],
  messages: [
    user([{ type: 'text', text: 'Hi', ...ephemeral }]),
    { role: 'system', content: 'The date is known.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'One.', signature: 'b25l' },
        { type: 'text', text: 'I look.' },
        { type: 'redacted_thinking', data: 'dHdv' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { b: 1, a: [2] } },
      ],
    },
    user([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        is_error: true,
        content: [{ type: 'text', text: 'No.' }],
        ...ephemeral,
      },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' }, title: 'a.pdf' },
    ]),
  ],
  tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object' }, input_examples: [{}], ...ephemeral }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'someone' },
  top_k: 5,
}

t.test('a backend of the same dialect is asked what the caller asked', async (t) => {
  const doors = await opened(t, hello)
  const betas = { 'anthropic-beta': 'one-2025-01-01,two-2026-02-02', 'anthropic-version': '2023-06-01' }
  const answer = await post(doors, rich, betas)
  t.equal(answer.headers.get('x-sealgate-dropped'), null)
  t.same(doors.asked(), { ...rich, model: 'claude-opus-4-8', max_tokens: 100 })
  t.match(doors.backend.asked.at(-1)!.headers, betas, 'betas and version byte for byte')
  const body = (await answer.json()) as any
  t.match(body.content, [
    { type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmVk' },
    { text: 'Hello there.' },
  ])
  t.match(body.usage, { input_tokens: 9, cache_read_input_tokens: 10, output_tokens: 11 })
  t.equal(body.model, 'messages', 'under the name that the caller knows')
  t.equal(answer.headers.get('request-id'), answer.headers.get('x-request-id'))
})

t.test('what a backend of another dialect has no place for is told', async (t) => {
  const doors = await opened(t, hello)
  const answer = await post(doors, { ...rich, model: 'chat' })
  t.same(answer.headers.get('x-sealgate-dropped')?.split(', ').sort(), [
    'context_management',
    'messages.content.cache_control',
    'messages.content.is_error',
    'messages.content.redacted_thinking',
    'messages.content.thinking',
    'metadata',
    'system.cache_control',
    'tools.cache_control',
    'tools.input_examples',
    'top_k',
  ])
  t.same(doors.asked(), {
    model: 'gpt-own',
    max_tokens: 100,
    messages: [
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'The date is known.' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"b":1,"a":[2]}' } }],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'No.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning_effort: 'high',
  })
})

t.test('choices, limits, budgets and formats in the words of the common format', async (t) => {
  const doors = await opened(t, hello)
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const schema = { type: 'object', properties: {} }
  const rows: readonly (readonly [asks: object, asked: object])[] = [
    [{ tools, tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
    [{ tools, tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
    [{ tools, tool_choice: { type: 'tool', name: 'look' } }, { tool_choice: { function: { name: 'look' } } }],
    [
      { stop_sequences: ['a'], temperature: 0.5, top_p: 0.9 },
      { stop: ['a'], temperature: 0.5, top_p: 0.9 },
    ],
    [{ max_tokens: 10_000, thinking: { type: 'enabled', budget_tokens: 2000 } }, { reasoning_effort: 'low' }],
    [{ max_tokens: 10_000, thinking: { type: 'enabled', budget_tokens: 5000 } }, { reasoning_effort: 'medium' }],
    [
      { output_config: { format: { type: 'json_schema', schema } } },
      { response_format: { type: 'json_schema', json_schema: { schema, strict: true } } },
    ],
    [
      { output_config: { format: { type: 'json_schema', schema: { ...schema, properties: { a: {} } } } } },
      { response_format: { type: 'json_schema', json_schema: { strict: false } } },
    ],
    [
      { tools: [{ ...tools[0], strict: true, input_schema: { ...schema, properties: { a: {} }, required: ['a'] } }] },
      { tools: [{ function: { strict: true } }] },
    ],
    [
      { tools: [{ ...tools[0], strict: true, input_schema: { ...schema, properties: { a: {} }, required: ['b'] } }] },
      { tools: [{ function: { strict: undefined } }] },
    ],
    [{ service_tier: 'standard_only' }, { service_tier: 'default' }],
  ]
  for (const [asks, asked] of rows) {
    await post(doors, { model: 'chat', ...asks })
    t.match(doors.asked(), asked, JSON.stringify(asks))
  }
  await post(doors, { model: 'chat', thinking: { type: 'disabled' } })
  t.notOk('reasoning_effort' in doors.asked())
})

t.test('state at the vendor is refused, tools that the vendor runs are told', async (t) => {
  const doors = await opened(t, hello)
  const file = { source: { type: 'file', file_id: 'f' } }
  const refused: readonly (readonly [body: object, param: string])[] = [
    [{ container: 'c' }, 'container'],
    [{ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] }, 'mcp_servers'],
    [{ messages: [user([{ type: 'image', ...file }])] }, 'messages.0.content.0.source.file_id'],
    [{ messages: [user([{ type: 'document', ...file }])] }, 'messages.0.content.0.source.file_id'],
    [
      { messages: [user([{ type: 'document', source: { type: 'content', content: [{ type: 'image', ...file }] } }])] },
      'file_id',
    ],
    [
      { messages: [user([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', ...file }] }])] },
      'file_id',
    ],
  ]
  for (const model of ['messages', 'chat']) {
    for (const [body, param] of refused) {
      const answer = await post(doors, { ...body, model })
      const { error } = (await answer.json()) as any
      t.match([answer.status, error.type, error.code], [400, 'invalid_request_error', 'state_not_supported'], param)
      t.match(error.message, param)
    }
  }
  t.equal(doors.backend.asked.length, 0, 'no backend was asked')
  const upload = await post(doors, { messages: [user([{ type: 'container_upload', file_id: 'f' }])] })
  t.match([upload.status, await upload.json()], [400, { error: { code: 'state_not_supported' } }])
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  const answer = await post(doors, { tools, tool_choice: { type: 'auto' } })
  t.match(answer.headers.get('x-sealgate-dropped'), /tools\.web_search_20250305/)
  t.notOk('tools' in doors.asked() || 'tool_choice' in doors.asked())
  const own = [{ type: 'bash_20250124', name: 'bash' }]
  await post(doors, { tools: own })
  t.same(doors.asked().tools, own, 'the caller itself runs this one')
})

t.test('a document by its address goes to backends that fetch it, and to no other', async (t) => {
  const doors = await opened(t, hello)
  const messages = [user([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }])]
  t.equal((await post(doors, { messages })).status, 200)
  t.same(doors.asked().messages, messages)
  t.equal((await post(doors, { messages, model: 'gemini' })).status, 200)
  t.match(doors.asked().contents, [{ parts: [{ fileData: { fileUri: 'https://example.com/a.pdf' } }] }])
  t.equal((await post(doors, { messages, model: 'chat' })).status, 400)
})

t.test('a signature of another vendor, or of another caller, is left out and told', async (t) => {
  const doors = await opened(t, hello)
  const { content } = (await (await post(doors, { model: 'chat' })).json()) as any
  t.match(content, [{ type: 'thinking', signature: /^sealgate\./ }, {}])
  const messages = [user('Hi'), { role: 'assistant', content }, user('And?')]
  await post(doors, { model: 'chat', messages })
  t.equal(doors.asked().messages[1].reasoning_content, 'Let me see.')
  const changed = await post(doors, { model: 'messages', messages })
  t.equal(changed.headers.get('x-sealgate-dropped'), 'messages.content.thinking')
  t.same(doors.asked().messages[1].content, [{ type: 'text', text: 'Hello there.' }])
  const { credential } = await doors.gateway.keys.create({ organization: 'another' })
  const theirs = await post(doors, { model: 'chat', messages }, { authorization: `Bearer ${credential}` })
  t.equal(theirs.headers.get('x-sealgate-dropped'), 'messages.content.thinking')
  t.notOk('reasoning_content' in doors.asked().messages[1])
})

t.test('a stream has blocks in a row, and its end', async (t) => {
  const acts = [
    { think: 'Let me see.', signature: 'c2lnbmVk' },
    { say: 'I look.' },
    { call: 'a', args: {} },
    { call: 'b', args: { c: 1 } },
  ]
  const doors = await opened(
    t,
    scripted(() => acts),
  )
  for (const model of ['chat', 'messages', 'gemini']) {
    const events = eventsOf(await (await post(doors, { model, stream: true })).text())
    const shown = events.flatMap(({ type, index, content_block, delta }) =>
      type === 'content_block_delta' && delta.type !== 'signature_delta'
        ? []
        : [[type, index, content_block?.type ?? delta?.type]],
    )
    const block = (index: number, type: string, more: readonly unknown[] = []) => [
      ['content_block_start', index, type],
      ...more,
      ['content_block_stop', index, undefined],
    ]
    t.same(
      shown,
      [
        ['message_start', undefined, undefined],
        ...block(0, 'thinking', [['content_block_delta', 0, 'signature_delta']]),
        ...block(1, 'text'),
        ...block(2, 'tool_use'),
        ...block(3, 'tool_use'),
        ['message_delta', undefined, undefined],
        ['message_stop', undefined, undefined],
      ],
      model,
    )
    t.match(events.at(-2), { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 11 } })
  }
  const cut = await opened(t, (request: Asked) => ({ ...hello(request), pace: { cut: 420 } }))
  const broken = eventsOf(await (await post(cut, { model: 'chat', stream: true })).text())
  t.match(broken.at(-1), { type: 'error', error: { type: 'overloaded_error' }, request_id: String })
})

t.test('tokens are counted, or estimated, and errors told in the dialect', async (t) => {
  const doors = await opened(t, hello)
  const client = new Anthropic({ baseURL: doors.base, apiKey: doors.key, maxRetries: 0 })
  for (const [model, tokens, estimated] of [
    ['messages', 21, null],
    ['gemini', 21, null],
    ['chat', 105, 'true'],
  ] as const) {
    const { data, response } = await client.messages
      .countTokens({ model, messages: [{ role: 'user', content: 'x'.repeat(400) }] })
      .withResponse()
    t.same([data.input_tokens, response.headers.get('x-sealgate-estimated')], [tokens, estimated], model)
  }
  const rows: readonly (readonly [status: number, type: string, call: () => Promise<Response>])[] = [
    [400, 'invalid_request_error', () => post(doors, { max_tokens: '1' })],
    [401, 'authentication_error', () => post(doors, {}, { authorization: 'Bearer no' })],
    [404, 'not_found_error', () => post(doors, { model: 'nobody' })],
  ]
  for (const [status, type, call] of rows) {
    const answer = await call()
    t.match([answer.status, await answer.json()], [status, { type: 'error', error: { type }, request_id: String }])
  }
})

t.test('a beta that the operator refuses is named, and no backend is asked', async (t) => {
  const doors = await opened(t, hello, {}, { betas: { refused: ['files-api-2025-04-14', 'computer-use-*'] } })
  const refused = async (path: string, beta: string) => {
    const body = { model: 'messages', max_tokens: 100, messages: [user('Hi')] }
    const answer = await doors.call('POST', path, body, { 'anthropic-beta': beta })
    return { status: answer.status, body: (await answer.json()) as any }
  }
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    for (const [betas, name] of [
      ['files-api-2025-04-14', 'files-api-2025-04-14'],
      ['one-2025-01-01, Computer-Use-2025-01-24,two', 'computer-use-2025-01-24'],
      ['one,computer-use-', 'computer-use-'],
    ] as const) {
      const error = {
        type: 'invalid_request_error',
        code: 'beta_refused',
        message: `The operator refuses a beta: ${name}`,
      }
      t.match(await refused(path, betas), { status: 400, body: { type: 'error', error } }, `${path}: ${betas}`)
    }
    for (const betas of ['files-api-2025-04-15', 'files-api-2025-04-14x,x-computer-use-1', ''])
      t.equal((await refused(path, betas)).status, 200, `${path}: ${betas}`)
  }
  t.equal(doors.backend.asked.length, 6)
})
