import t from 'tap'
import { behind, opened } from '../fakes/doors.ts'
import type { Asked, Take } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

/** A number that a double holds, and the one that stands in its place on the wire. */
const held = 7777000077770007
const long = '-1234567890123456789'
const digits = (text: string): string => text.replaceAll(String(held), long)

const play = scripted((turn) =>
  turn === 0
    ? [{ call: 'find', args: { ids: [{ id: held }], beside: 'a text as long as the number before' } }]
    : [{ say: 'Found.' }],
)
const exactly = async (asked: Asked): Promise<Take> => {
  const take = await play(asked)
  return typeof take.body === 'string' ? { ...take, body: digits(take.body) } : take
}

const schema = { type: 'object', properties: { ids: { type: 'array', items: {} } } }
const asks: Readonly<Record<string, (model: string, stream: boolean) => readonly [path: string, body: object]>> = {
  'chat completions': (model, stream) => [
    '/v1/chat/completions',
    {
      ...{ model, stream, messages: [{ role: 'user', content: 'Find.' }] },
      tools: [{ type: 'function', function: { name: 'find', parameters: schema } }],
    },
  ],
  messages: (model, stream) => [
    '/v1/messages',
    {
      ...{ model, stream, max_tokens: 99, messages: [{ role: 'user', content: 'Find.' }] },
      tools: [{ name: 'find', input_schema: schema }],
    },
  ],
  responses: (model, stream) => [
    '/v1/responses',
    { model, stream, input: 'Find.', tools: [{ type: 'function', name: 'find', parameters: schema }] },
  ],
  'generate content': (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    {
      contents: [{ role: 'user', parts: [{ text: 'Find.' }] }],
      tools: [{ functionDeclarations: [{ name: 'find', parameters: schema }] }],
    },
  ],
}

const args = `{"ids":[{"id":${long}}]}`
const quoted = JSON.stringify(args)
/** The same conversation by each door, in text: JavaScript would round its number. */
const replays: Readonly<Record<string, (model: string) => readonly [path: string, body: string]>> = {
  'chat completions': (model) => [
    '/v1/chat/completions',
    `{"model":"${model}","messages":[{"role":"user","content":"Find."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"c1","content":${quoted}}]}`,
  ],
  messages: (model) => [
    '/v1/messages',
    `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Find."},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find","input":${args}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":${quoted}}]}]}`,
  ],
  responses: (model) => [
    '/v1/responses',
    `{"model":"${model}","input":[{"role":"user","content":"Find."},{"type":"function_call","call_id":"c1","name":"find","arguments":${quoted}},{"type":"function_call_output","call_id":"c1","output":${quoted}}]}`,
  ],
  'generate content': (model) => [
    `/v1beta/models/${model}:generateContent`,
    `{"contents":[{"role":"user","parts":[{"text":"Find."}]},{"role":"model","parts":[{"functionCall":{"name":"find","args":${args}}}]},{"role":"user","parts":[{"functionResponse":{"name":"find","response":${args}}}]}]}`,
  ],
}

/** How often the number stands there unquoted, whether in JSON or in JSON as a text. */
const count = (text: string): number => text.split(`:${long}`).length - 1

t.test('arguments of a model keep every digit by each door before each backend', async (t) => {
  const doors = await opened(t, exactly, { converse: 'converse' })
  for (const model of behind)
    for (const [door, ask] of Object.entries(asks))
      for (const stream of model === 'converse' ? [false] : [false, true]) {
        const answer = await doors.call('POST', ...ask(model, stream))
        const text = (await answer.text()).replace(/\s/g, '')
        t.ok(answer.status === 200 && count(text) > 0, `${door} before ${model}${stream ? ', as a stream' : ''}`)
      }
})

t.test('calls and results that come back keep every digit by each door before each backend', async (t) => {
  const doors = await opened(t, exactly, { converse: 'converse' })
  const headers = { authorization: `Bearer ${doors.key}`, 'content-type': 'application/json' }
  for (const model of behind)
    for (const [door, replay] of Object.entries(replays)) {
      const [path, body] = replay(model)
      const { status } = await fetch(doors.base + path, { method: 'POST', headers, body })
      t.same([status, count(doors.backend.asked.at(-1)!.body.toString())], [200, 2], `${door} before ${model}`)
    }
})

t.test('a conversation of very many values is served with rounded numbers', async (t) => {
  const doors = await opened(t, exactly)
  const headers = { authorization: `Bearer ${doors.key}`, 'content-type': 'application/json' }
  const many = `{"id":${long},"list":[${'1,'.repeat(20_000)}1]}`
  const [path, body] = replays['messages']!('chat')
  const { status } = await fetch(doors.base + path, { method: 'POST', headers, body: body.replace(args, many) })
  t.same([status, doors.backend.asked.at(-1)!.body.includes(String(Number(long)))], [200, true])
})

t.test('calls that stand whole in a stream of Messages keep every digit', async (t) => {
  const call = `{"type":"tool_use","id":"t1","name":"find","input":${args}}`
  const head = (content: string) =>
    `{"type":"message_start","message":{"id":"m","role":"assistant","model":"c","usage":{},"content":${content}}}`
  const end = ['{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}', '{"type":"message_stop"}']
  const block = [
    `{"type":"content_block_start","index":0,"content_block":${call}}`,
    '{"type":"content_block_stop","index":0}',
  ]
  for (const [events, from] of [
    [[head('[]'), ...block, ...end], 'in a block'],
    [[head(`[${call}]`), ...end], 'in the head'],
  ] as const) {
    const headers = { 'content-type': 'text/event-stream' }
    const doors = await opened(t, () => ({ headers, body: events.map((data) => `data: ${data}\n\n`).join('') }))
    for (const [door, ask] of Object.entries(asks)) {
      const text = (await (await doors.call('POST', ...ask('messages', true))).text()).replace(/\s/g, '')
      t.ok(count(text) > 0, `${door}, ${from}`)
    }
  }
})

t.test('an answer that a tool of the gateway gives keeps every digit in a stream of Messages', async (t) => {
  const block = `{"type":"tool_use","id":"t1","name":"json_answer","input":${args}}`
  const events = [
    '{"type":"message_start","message":{"id":"m","role":"assistant","model":"c","usage":{},"content":[]}}',
    `{"type":"content_block_start","index":0,"content_block":${block}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}',
    '{"type":"message_stop"}',
  ]
  const headers = { 'content-type': 'text/event-stream' }
  const doors = await opened(t, () => ({ headers, body: events.map((data) => `data: ${data}\n\n`).join('') }))
  const [path, body] = asks['chat completions']!('messages', true)
  const answer = await doors.call('POST', path, { ...body, response_format: { type: 'json_object' } })
  t.ok(count(await answer.text()) > 0)
})
