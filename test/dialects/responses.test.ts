import OpenAI from 'openai'
import t from 'tap'
import { eventsOf, opened, type Doors } from '../fakes/doors.ts'
import type { Asked } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

const hello = scripted(() => [{ think: 'Let me see.' }, { say: 'Hello there.' }])

const post = (doors: Doors, body: object, headers: Record<string, string> = {}) =>
  doors.call('POST', '/v1/responses', { model: 'chat', input: 'Hi', ...body }, headers)

const answered = async (doors: Doors, body: object): Promise<any> => (await post(doors, body)).json()

/** An answer in the common format, whatever was asked. */
const answering = (choice: object, usage?: object) => () => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: '1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, ...choice }],
    usage,
  }),
})

t.test('a stream has all of its events, numbered without a gap', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ think: 'Let me see.' }, { say: 'Hello.' }, { call: 'weather', args: { city: 'Lima' } }]),
  )
  const events = eventsOf(await (await post(doors, { stream: true, store: false })).text())
  t.same(
    events.map(({ type }) => type.replace('response.', '')),
    [
      ...['created', 'in_progress'],
      ...['output_item.added', 'reasoning_summary_part.added'],
      ...['reasoning_summary_text.delta', 'reasoning_summary_text.delta', 'reasoning_summary_text.done'],
      ...['reasoning_summary_part.done', 'output_item.done'],
      ...['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.delta', 'output_text.done'],
      ...['content_part.done', 'output_item.done'],
      ...['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.delta'],
      ...['function_call_arguments.done', 'output_item.done', 'completed'],
    ],
  )
  t.same(
    events.map(({ sequence_number }) => sequence_number),
    [...events.keys()],
  )
  const { response } = events.at(-1)
  const done = events.filter(({ type }) => type === 'response.output_item.done')
  t.same(
    response.output,
    done.map(({ item }) => item),
    'the last event has every item',
  )
  t.same(
    done.map(({ output_index }) => output_index),
    [0, 1, 2],
  )
  for (const { item_id, output_index } of events.filter(({ item_id }) => item_id !== undefined)) {
    if (response.output[output_index].id !== item_id) t.fail(`an event names item ${output_index} otherwise`)
  }
})

t.test('the members that every response must have', async (t) => {
  const doors = await opened(t, hello)
  const whole = await answered(doors, { metadata: { a: 'b' }, temperature: 0.5, tools: [{ type: 'web_search' }] })
  const members =
    'background completed_at created_at error frequency_penalty id incomplete_details instructions max_output_tokens ' +
    'max_tool_calls metadata model object output parallel_tool_calls presence_penalty previous_response_id ' +
    'prompt_cache_key reasoning safety_identifier service_tier status store temperature text tool_choice tools ' +
    'top_logprobs top_p truncation usage user'
  t.same(Object.keys(whole).sort(), members.split(' '))
  t.match(whole, { object: 'response', status: 'completed', store: false, model: 'chat', metadata: { a: 'b' } })
  t.same(whole.tools, [{ type: 'web_search' }], 'as they were asked for')
})

t.test('usage is told with its details, and an answer that was cut is incomplete', async (t) => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  const message = { role: 'assistant', content: 'Hel' }
  const cut = await opened(t, answering({ message, finish_reason: 'length' }, usage))
  t.match(await answered(cut, {}), {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 14,
    },
  })
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":"b' } }
  const calls = { role: 'assistant', content: null, tool_calls: [call] }
  const half = await opened(t, answering({ message: calls, finish_reason: 'length' }, usage))
  for (const [doors, type] of [
    [cut, 'message'],
    [half, 'function_call'],
  ] as const) {
    const item = { type, status: 'incomplete' }
    t.match((await answered(doors, {})).output, [item], `a ${type} that was cut`)
    const told = (await (await post(doors, { stream: true })).text()).match(/^data: \{.*$/gm) ?? []
    const ends = told.map((line) => JSON.parse(line.slice(6))).filter((one) => one.type === 'response.output_item.done')
    t.match(ends[0], { item }, 'and its end in a stream')
  }
  const refusal = { role: 'assistant', content: null, refusal: 'I may not.' }
  const filtered = await opened(t, answering({ message: refusal, finish_reason: 'content_filter' }))
  t.match(await answered(filtered, {}), {
    incomplete_details: { reason: 'content_filter' },
    output: [{ content: [{ type: 'refusal', refusal: 'I may not.' }] }],
  })
})

t.test('what a store would have to resolve is refused by a code and the member’s name', async (t) => {
  const doors = await opened(t, hello)
  const refused: readonly (readonly [body: object, param: string])[] = [
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ background: true }, 'background'],
    [{ store: true }, 'store'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }, 'input.0.content.0.file_id'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input.0.content.0.file_id'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs'] }] }, 'tools.0.vector_store_ids'],
    [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, 'tools.0.container'],
  ]
  for (const [body, param] of refused) {
    const answer = await post(doors, body)
    t.match([answer.status, await answer.json()], [400, { error: { code: 'state_not_supported', param } }], param)
  }
  t.equal(doors.backend.asked.length, 0, 'no backend was asked')
  for (const body of [{ previous_response_id: null }, { background: false }, { store: null }, { store: false }]) {
    t.equal((await post(doors, body)).status, 200, JSON.stringify(body))
  }
  t.notOk('store' in doors.asked(), 'nothing of it goes on')
})

t.test('a reference to an item resolves without a store, for the caller that was given it alone', async (t) => {
  const doors = await opened(t, hello)
  const stranger = await doors.gateway.keys.create({ organization: 'another' })
  for (const stream of [false, true]) {
    const { output } = stream
      ? eventsOf(await (await post(doors, { stream })).text()).at(-1).response
      : await answered(doors, {})
    t.same(
      output.map(({ type }: any) => type),
      ['reasoning', 'message', 'reasoning'],
      'the last holds the others',
    )
    const input = [
      { role: 'user', content: 'Hi' },
      ...output.map(({ id }: any) => ({ type: 'item_reference', id })),
      { role: 'user', content: 'And?' },
    ]
    t.equal((await post(doors, { input })).status, 200)
    t.same(doors.asked().messages, [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello there.', reasoning_content: 'Let me see.' },
      { role: 'user', content: 'And?' },
    ])
    const theirs = await post(doors, { input }, { authorization: `Bearer ${stranger.credential}` })
    const { error } = (await theirs.json()) as any
    t.match([theirs.status, error], [400, { code: 'item_not_found', param: 'input.1.id', message: /store: false/ }])
    const alone = await post(doors, { input: [{ type: 'item_reference', id: output[1].id }] })
    t.equal(alone.status, 400, 'without the item that holds it')
  }
  const kept = await answered(doors, { store: false })
  t.same(
    kept.output.map(({ type }: any) => type),
    ['reasoning', 'message'],
    'nobody refers to items that are not stored',
  )
})

t.test('tools of the caller are carried over, others are told', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ call: 'patch', args: { input: '*** Begin' } }]),
  )
  const tools = [
    { type: 'function', name: 'look', description: 'Looks', parameters: { type: 'object' }, strict: true },
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] },
    { type: 'web_search' },
    { type: 'mcp', server_url: 'https://example.com' },
  ]
  const answer = await post(doors, { tools, tool_choice: { type: 'custom', name: 'patch' }, store: false })
  const told = 'tools.custom.format, tools.web_search, tools.mcp'
  t.equal(answer.headers.get('x-sealgate-dropped'), told)
  const asked = doors.asked()
  t.same(
    asked.tools.map((tool: any) => tool.function.name),
    ['look', 'patch', 'agents__spawn'],
  )
  t.match(asked.tools[0].function, { description: 'Looks', strict: true })
  t.match(asked.tools[1].function.description, /start: "x"/, 'a grammar is described')
  t.same(asked.tool_choice, { type: 'function', function: { name: 'patch' } })
  const { output } = (await answer.json()) as any
  t.match(output, [{ type: 'custom_tool_call', name: 'patch', input: '*** Begin', call_id: 'call_0_0' }])
  const result = { type: 'custom_tool_call_output', call_id: 'call_0_0', output: 'patched' }
  await post(doors, { input: [{ role: 'user', content: 'Hi' }, ...output, result], tools })
  t.match(doors.asked().messages.slice(1), [
    { tool_calls: [{ function: { name: 'patch', arguments: '{"input":"*** Begin"}' } }] },
    { role: 'tool', tool_call_id: 'call_0_0', content: 'patched' },
  ])
  await post(doors, { tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ name: 'look' }] } })
  t.match([doors.asked().tools.length, doors.asked().tool_choice], [1, 'required'])
  const none = await post(doors, { tools: [{ type: 'web_search' }], tool_choice: 'auto' })
  t.equal(none.headers.get('x-sealgate-dropped'), 'tools.web_search')
  t.notOk('tools' in doors.asked() || 'tool_choice' in doors.asked())
})

t.test('a tool of a namespace is called by both names, and stays the same tool in the next turn', async (t) => {
  const long = `mcp__${'papers'.repeat(10)}`
  const doors = await opened(
    t,
    scripted((turn, tools) => (turn < 3 ? [{ call: tools[turn]!, args: { input: 'x' } }] : [{ say: 'Done' }])),
  )
  const tools = [
    { type: 'namespace', name: 'mcp__papers', tools: [{ type: 'function', name: 'read' }] },
    { type: 'namespace', name: long, description: 'Many', tools: [{ type: 'function', name: 'read' }] },
    { type: 'namespace', name: 'edits', tools: [{ type: 'custom', name: 'patch' }] },
  ]
  const calls = [
    { type: 'function_call', namespace: 'mcp__papers', name: 'read', arguments: '{"input":"x"}' },
    { type: 'function_call', namespace: long, name: 'read', arguments: '{"input":"x"}' },
    { type: 'custom_tool_call', namespace: 'edits', name: 'patch', input: 'x' },
  ]
  const input: object[] = [{ role: 'user', content: 'Hi' }]
  for (const [turn, call] of calls.entries()) {
    const answer = await post(doors, { input, tools, store: false })
    t.equal(answer.headers.get('x-sealgate-dropped'), 'tools.namespace.description')
    const { output } = (await answer.json()) as any
    t.match(output, [call])
    const type = `${call.type}_output`
    input.push(...output, { type, call_id: output[0].call_id, output: `result ${turn}` })
  }
  const stream = await post(doors, { input: input.slice(0, 1), tools, store: false, stream: true })
  const items = eventsOf(await stream.text()).flatMap(({ item }) => item ?? [])
  t.match(
    items,
    [calls[0]!, calls[0]!].map(({ namespace, name }) => ({ namespace, name })),
  )

  await post(doors, { input, tools })
  const asked = doors.asked()
  const names: string[] = asked.tools.map((tool: any) => tool.function.name)
  t.same([names[0], names[2]], ['mcp__papers__read', 'edits__patch'])
  t.match(names[1], /^mcp__papers\w{40}_[0-9a-f]{12}$/, 'no longer than backends take')
  t.same(
    asked.messages.flatMap(({ tool_calls = [] }: any) => tool_calls.map((call: any) => call.function.name)),
    names,
  )
  const choice = { type: 'function', namespace: 'mcp__papers', name: 'read' }
  await post(doors, { tools, tool_choice: choice })
  t.same(doors.asked().tool_choice, { type: 'function', function: { name: 'mcp__papers__read' } })
  await post(doors, { tools, tool_choice: { type: 'allowed_tools', tools: [choice] } })
  t.equal(doors.asked().tools.length, 1)
  for (const inner of [{ type: 'namespace', name: 'b', tools: [] }, { type: 'function' }])
    t.equal((await post(doors, { tools: [{ type: 'namespace', name: 'a', tools: [inner] }] })).status, 400)
  const before = doors.backend.asked.length
  const alike = { type: 'function', name: 'mcp__papers__read' }
  const twice = await post(doors, { tools: [...tools, alike] })
  t.match([twice.status, await twice.json()], [400, { error: { message: /tools\.3\.name/ } }])
  t.equal(doors.backend.asked.length, before, 'no backend is asked where a call could be that of two tools')
})

/** Instructions with tools, as agents of newer models send them. */
const more = {
  type: 'additional_tools',
  role: 'developer',
  tools: [
    { type: 'function', name: 'look', parameters: { type: 'object' }, strict: false },
    {
      type: 'namespace',
      name: 'functions',
      tools: [
        {
          type: 'custom',
          name: 'exec',
          description: 'Runs.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
      ],
    },
  ],
}

for (const model of ['chat', 'messages', 'gemini'] as const) {
  t.test(`tools that an item offers are called, before a backend of ${model}`, async (t) => {
    const script = scripted((turn, tools) =>
      turn < 1 ? [{ call: tools[1]!, args: { input: 'ls' } }] : [{ say: 'Done' }],
    )
    const doors = await opened(t, script)
    const reasoning = { effort: 'low', context: 'all_turns', pace: 'slow' }
    const input: object[] = [more, { role: 'user', content: 'Hi' }, { type: 'reminiscence', text: 'x' }]
    const asked = { model, input, reasoning, store: false, stream: true }
    const answer = await post(doors, asked)
    const dropped = answer.headers.get('x-sealgate-dropped')!.split(', ')
    for (const told of ['reasoning.pace', 'input.reminiscence', 'tools.custom.format'])
      t.ok(dropped.includes(told), `${told} is told`)
    const { output } = eventsOf(await answer.text()).at(-1).response
    const call = output.find(({ type }: { type: string }) => type === 'custom_tool_call')
    t.match(call, { namespace: 'functions', name: 'exec', input: 'ls' })
    const result = { type: 'custom_tool_call_output', call_id: call.call_id, output: 'a.txt' }
    const compacted = { type: 'compaction', encrypted_content: 'gAAAA' }
    const next = await post(doors, { ...asked, input: [more, compacted, ...input, ...output, result] })
    t.match([next.status, next.headers.get('x-sealgate-dropped')], [200, /\binput\.compaction\b/])
    t.match(eventsOf(await next.text()).at(-1).response, { status: 'completed' })
    const body = JSON.stringify(doors.asked())
    t.equal(body.split('"name":"functions__exec","description":').length, 2, 'the tool is offered once')
    t.match(body, 'a.txt')
  })
}

t.test('a backend of the same dialect is given every item as it came', async (t) => {
  const script = scripted(() => [{ say: 'Hello' }])
  const named = { gpt: { upstreams: [{ provider: 'chat', model: 'gpt-5.6-luna' }] } }
  const doors = await opened(t, script, {}, { models: named })
  const input = [more, { type: 'compaction', encrypted_content: 'gAAAA' }, { role: 'user', content: 'Hi' }]
  const reasoning = { effort: 'low', context: 'all_turns' }
  const answer = await post(doors, { model: 'gpt', input, reasoning, store: false })
  t.match([answer.status, answer.headers.get('x-sealgate-dropped')], [200, null])
  t.match(doors.asked(), { input, reasoning })
  for (const [tool, param] of [
    [{ name: 'look' }, 'input.0.tools.0.type'],
    [{ type: 'file_search', vector_store_ids: ['vs'] }, 'input.0.vector_store_ids'],
  ] as const) {
    const refused = await post(doors, {
      model: 'gpt',
      input: [{ ...more, tools: [tool] }, ...input.slice(1)],
      store: false,
    })
    t.match([refused.status, await refused.json()], [400, { error: { param } }])
  }
})

t.test('thoughts of earlier turns stay away where the caller wants the current turn alone', async (t) => {
  const doors = await opened(t, hello)
  const { output } = await answered(doors, { input: [{ role: 'user', content: 'Hi' }], store: false })
  const input = [{ role: 'user', content: 'Hi' }, ...output, { role: 'user', content: 'And now?' }]
  for (const [context, thoughts] of [
    ['all_turns', 'Let me see.'],
    ['current_turn', undefined],
  ] as const) {
    await post(doors, { input, reasoning: { context }, store: false })
    t.equal(doors.asked().messages[1].reasoning_content, thoughts, context)
  }
})

t.test('structured output, images, instructions and images from tools', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ say: '{"city":"Lima"}' }]),
  )
  const client = new OpenAI({ baseURL: `${doors.base}/v1`, apiKey: doors.key, maxRetries: 0 })
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const parsed = await client.responses.parse({
    model: 'chat',
    instructions: 'Be brief.',
    input: [
      { role: 'developer', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Where?' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
        ],
      },
    ],
    text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
  })
  t.equal(parsed.output_text, '{"city":"Lima"}')
  t.same(doors.asked(), {
    model: 'gpt-own',
    messages: [
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Where?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        ],
      },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
  })
  const call = { type: 'function_call', call_id: 'c', name: 'see', arguments: '{}' }
  const output = [{ type: 'input_image', image_url: 'data:image/png;base64,BBBB' }]
  await post(doors, {
    input: [{ role: 'user', content: 'Hi' }, call, { type: 'function_call_output', call_id: 'c', output }],
  })
  t.match(doors.asked().messages.slice(2), [
    { role: 'tool', content: '' },
    { role: 'user', content: [{ image_url: { url: 'data:image/png;base64,BBBB' } }] },
  ])
})

t.test('errors are told in the dialect', async (t) => {
  const doors = await opened(t, hello)
  const unknown = await post(doors, { model: 'nobody' })
  t.match([unknown.status, await unknown.json()], [404, { error: { code: 'model_not_found', message: String } }])
  const keyless = await post(doors, {}, { authorization: 'Bearer no' })
  t.match([keyless.status, await keyless.json()], [401, { error: { code: 'invalid_api_key' } }])
  const malformed = await post(doors, { input: [{ type: 'function_call', name: 'look', arguments: '{}' }] })
  t.match([malformed.status, await malformed.json()], [400, { error: { param: 'input.0.call_id' } }])
  const large = await opened(t, hello, {}, { bodies: { chat: 100 } })
  t.match((await post(large, { input: 'x'.repeat(200) })).status, 413)
})

t.test('a stream that breaks ends in a failed response', async (t) => {
  const doors = await opened(t, (request: Asked) => ({ ...hello(request), pace: { cut: 420 } }))
  const events = eventsOf(await (await post(doors, { stream: true })).text())
  const last = events.at(-1)
  t.match(last, { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } })
  t.equal(last.sequence_number, events.length - 1)
})
