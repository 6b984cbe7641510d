import '../fakes/unwatched.ts'
import { randomBytes } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import t from 'tap'
import { type Doors, eventsOf, opened } from '../fakes/doors.ts'
import type { Take } from '../fakes/recorded.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const tools = [{ name: 'look', input_schema: { type: 'object' } }]

const calling = (args: string | null, id = 'call_1') => ({
  ...{ index: 0, id, type: 'function' },
  function: { name: 'look', arguments: args },
})

/** A whole answer of a backend that calls a tool. */
const whole = (finish_reason: string, args: string): Take => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [
      { index: 0, message: { role: 'assistant', content: 'I look.', tool_calls: [calling(args)] }, finish_reason },
    ],
  }),
})

const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
})

const streamed = (...chunks: readonly object[]): Take => ({
  headers: { 'content-type': 'text/event-stream' },
  body: `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`,
})

/** The same answer as a stream, its arguments in pieces. */
const pieces = (finish_reason: string, ...args: readonly (string | null)[]): Take => {
  const [first = '', ...rest] = args
  const more = rest.map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }))
  const beginning = [chunk({ role: 'assistant', content: 'I look.' }), chunk({ tool_calls: [calling(first)] })]
  return streamed(...beginning, ...more, chunk({}, finish_reason))
}

/** What a client of Messages gets, whole or as a stream. */
const bySdk = async (doors: Doors, stream: boolean) => {
  const answer = await doors.call('POST', '/v1/messages', { model: 'chat', max_tokens: 9, messages, tools, stream })
  if (!stream) return { status: answer.status, ...((await answer.json()) as any) }
  const events = eventsOf(await answer.text())
  const { stop_reason } = events.find(({ type }) => type === 'message_delta')?.delta ?? {}
  return { ...events[0].message, status: answer.status, stop_reason }
}

t.test('a call of a tool that a backend ends by `stop` is a call for clients of Messages', async (t) => {
  let playing = whole('stop', '{"a":1}')
  const doors = await opened(t, () => playing)
  t.match(await bySdk(doors, false), { status: 200, stop_reason: 'tool_use' })
  playing = pieces('stop', '', '{"a":1}')
  t.match(await bySdk(doors, true), { status: 200, stop_reason: 'tool_use' })
  const text = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }
  const body = JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices: [text] })
  playing = { headers: { 'content-type': 'application/json' }, body }
  t.match(await bySdk(doors, false), { stop_reason: 'end_turn' }, 'without a call the turn has ended')
})

t.test('a call that the limit of tokens has cut is left out, and the answer says why it ends', async (t) => {
  let playing = whole('length', '{"a":"b')
  const doors = await opened(t, () => playing)
  const told = await bySdk(doors, false)
  t.match(told, { status: 200, stop_reason: 'max_tokens' })
  t.same(told.content, [{ type: 'text', text: 'I look.' }])
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const generated = await doors.call('POST', '/v1beta/models/chat:generateContent', { contents })
  const expected = { content: { parts: [{ text: 'I look.' }] }, finishReason: 'MAX_TOKENS' }
  t.match(await generated.json(), { candidates: [expected] })
  playing = pieces('length', '', '{"a":"b')
  const stream = await doors.call('POST', '/v1beta/models/chat:streamGenerateContent?alt=sse', { contents })
  const parts = eventsOf(await stream.text())
  t.equal(parts.at(-1).candidates[0].finishReason, 'MAX_TOKENS')
  t.notMatch(JSON.stringify(parts), /functionCall|error/)
  playing = whole('tool_calls', '{"a":"b')
  t.equal((await bySdk(doors, false)).status, 529, 'arguments that are no JSON stay a fault of the backend')
})

t.test('arguments of a call may begin as null', async (t) => {
  const doors = await opened(t, () => pieces('tool_calls', null, '{"a":1}'))
  const asks = { model: 'chat', input: 'Hi', tools: [{ type: 'function', name: 'look' }], stream: true }
  const events = eventsOf(await (await doors.call('POST', '/v1/responses', asks)).text())
  const done = events.find(({ type }) => type === 'response.function_call_arguments.done')
  t.equal(done.arguments, '{"a":1}')
  const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta')
  t.same(
    deltas.map(({ delta }) => delta),
    ['{"a":1}'],
  )
})

/** The first piece of a call by this number, whose id is the letter. */
const begins = (index: number, id: string, args = '') =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'look', arguments: args } }] })
const goesOn = (index: number, args: string) => chunk({ tool_calls: [{ index, function: { arguments: args } }] })

/** The calls that the vendors’ own clients read from streams of Messages and Responses. */
const callsBySdks = async ({ base, key }: Doors) => {
  const anthropic = new Anthropic({ apiKey: key, authToken: null, baseURL: base, maxRetries: 0 })
  const openai = new OpenAI({ apiKey: key, baseURL: `${base}/v1`, maxRetries: 0 })
  const look = { name: 'look', input_schema: { type: 'object' as const } }
  const message = anthropic.messages.stream({ model: 'chat', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tools: [look] }) // prettier-ignore
  const { content } = await message.finalMessage()
  const fun = { type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }
  const { output } = await openai.responses.stream({ model: 'chat', input: 'Hi', tools: [fun] }).finalResponse()
  return {
    messages: content.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.input]] : [])),
    responses: output.flatMap((item) => (item.type === 'function_call' ? [[item.call_id, JSON.parse(item.arguments)]] : [])), // prettier-ignore
  }
}

t.test('calls of a whole answer have ids and arguments, in whichever form the backend gives them', async (t) => {
  let tool_calls: readonly object[] = []
  const choice = () => ({ index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason: 'stop' })
  const doors = await opened(t, () => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices: [choice()] }),
  }))
  const ask = async (path: string, body: object): Promise<any> => (await doors.call('POST', path, body)).json()
  for (const [args, input] of [
    [{ a: 1 }, { a: 1 }],
    [null, {}],
  ]) {
    tool_calls = [{ type: 'function', function: { name: 'look', arguments: args } }]
    t.match(await bySdk(doors, false), { content: [{ type: 'tool_use', id: 'call_0', input }] })
    const { output } = await ask('/v1/responses', { model: 'chat', input: 'Hi' })
    t.equal(output[0].arguments, JSON.stringify(input))
    const { candidates } = await ask('/v1beta/models/chat:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] })
    t.same(candidates[0].content.parts[0].functionCall.args, input)
  }
  tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: { a: 1 } } }]
  const { choices } = await ask('/v1/chat/completions', { model: 'chat', messages })
  t.equal(choices[0].message.tool_calls[0].function.arguments, '{"a":1}')
})

t.test('calls whose pieces come in turns reach the clients of Messages and Responses whole', async (t) => {
  const orders: Readonly<Record<string, readonly object[]>> = {
    'piece by piece': [begins(0, 'a'), begins(1, 'b'), goesOn(0, '{"x":'), goesOn(1, '{"y":'), goesOn(0, '1}'), goesOn(1, '2}')],
    'the later one first': [begins(0, 'a'), begins(1, 'b', '{"y"'), goesOn(1, ':2}'), goesOn(0, '{"x":1}')],
    'in one chunk': [chunk({ tool_calls: [begins(0, 'a', '{'), begins(1, 'b', '{"y":2'), goesOn(0, '"x":1}'), goesOn(1, '}')].flatMap(({ choices }: any) => choices[0].delta.tool_calls) })],
    'with pieces that bring nothing': [begins(0, 'a', '{"x":1}'), begins(1, 'b', '{"y":2}'), goesOn(0, ''), goesOn(1, '')],
    'with words between them': [begins(0, 'a', '{"x"'), begins(1, 'b', '{"y"'), goesOn(0, ':1}'), chunk({ content: 'I look.' }), goesOn(1, ':2}')],
  } // prettier-ignore
  let playing: Take = streamed()
  const doors = await opened(t, () => playing)
  const whole = [['a', { x: 1 }], ['b', { y: 2 }]] // prettier-ignore
  for (const [name, chunks] of Object.entries(orders)) {
    playing = streamed(...chunks, chunk({}, 'tool_calls'))
    t.same(await callsBySdks(doors), { messages: whole, responses: whole }, name)
  }
  playing = streamed(begins(0, 'a'), begins(1, 'b', '{"y":2}'), chunk({}, 'tool_calls'))
  const bare = [['a', {}], ['b', { y: 2 }]] // prettier-ignore
  t.same(await callsBySdks(doors), { messages: bare, responses: bare }, 'a call without arguments')
  playing = streamed(begins(0, 'a', '{"x":1}'), begins(1, 'b'), begins(2, 'c', '{}'), goesOn(1, '{"y":2}'), chunk({}, 'tool_calls')) // prettier-ignore
  const three = [...whole, ['c', {}]]
  t.same(await callsBySdks(doors), { messages: three, responses: three }, 'behind a call that is whole')
  playing = streamed(begins(0, 'a'), goesOn(7, '{"x":1}'), chunk({}, 'tool_calls'))
  await t.rejects(callsBySdks(doors), 'a piece of a call that never begins stays a fault')
})

t.test('pieces of calls that come one after the other go on as they come', async (t) => {
  const second = ['{"y"', ':', '2}']
  const doors = await opened(t, () =>
    streamed(begins(0, 'a', '{"x":1}'), begins(1, 'b'), ...second.map((piece) => goesOn(1, piece)), chunk({}, 'stop')),
  )
  const messages = await doors.call('POST', '/v1/messages', { model: 'chat', max_tokens: 9, tools, stream: true, messages: [{ role: 'user', content: 'Hi' }] }) // prettier-ignore
  const deltas = eventsOf(await messages.text()).filter(({ type, index }) => type === 'content_block_delta' && index === 1) // prettier-ignore
  t.same(deltas.map(({ delta }) => delta.partial_json), second) // prettier-ignore
  const asks = { model: 'chat', input: 'Hi', tools: [{ type: 'function', name: 'look' }], stream: true }
  const events = eventsOf(await (await doors.call('POST', '/v1/responses', asks)).text())
  const grown = events.filter(({ type, output_index }) => type.endsWith('arguments.delta') && output_index === 1)
  t.same(grown.map(({ delta }) => delta), second) // prettier-ignore
})

t.test('an answer has the id of its first chunk with a choice', async (t) => {
  const filtered = {
    id: '',
    object: '',
    created: 0,
    model: '',
    choices: [],
    prompt_filter_results: [{ prompt_index: 0 }],
  }
  const doors = await opened(t, () =>
    streamed(filtered, chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop')),
  )
  t.match(await bySdk(doors, true), { id: 'msg_c1', stop_reason: 'end_turn' })
})

const generated = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  ...{ responseId: 'r1', modelVersion: 'g' },
})
const signedCall = (id: string, thoughtSignature: string) => ({
  functionCall: { id, name: 'look', args: {} },
  thoughtSignature,
})

t.test('each signed call of a turn comes back to its backend with its own signature', async (t) => {
  const [first, second] = [signedCall('a', 'c2lnX2E='), signedCall('b', 'c2lnX2I=')]
  const answers = [generated([first]), generated([second], 'STOP')]
  const headers = { 'content-type': 'text/event-stream' }
  const doors = await opened(t, () => ({
    headers,
    body: answers.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''),
  }))
  const asks = { ...{ model: 'gemini', max_tokens: 9, stream: true }, tools, messages }
  const events = eventsOf(await (await doors.call('POST', '/v1/messages', asks)).text())
  const content = events.flatMap(({ type, content_block }) => (type === 'content_block_start' ? [content_block] : []))
  const results = ['a', 'b'].map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'seen' }))
  const next = [...messages, { role: 'assistant', content }, { role: 'user', content: results }]
  await (await doors.call('POST', '/v1/messages', { ...asks, messages: next })).text()
  t.match(doors.asked().contents[1].parts, [first, second])
})

t.test('a turn that holds thoughts of another vendor alone is left out before Claude', async (t) => {
  const thoughts = { role: 'assistant', content: '', reasoning_content: 'Hm.' }
  const body = JSON.stringify({
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: thoughts, finish_reason: 'length' }],
  })
  const doors = await opened(t, () => ({ headers: { 'content-type': 'application/json' }, body }))
  const { content } = await bySdk(doors, false)
  t.match(content, [{ type: 'thinking' }])
  const next = [...messages, { role: 'assistant', content }, { role: 'user', content: 'Go on' }]
  await doors.call('POST', '/v1/messages', { model: 'messages', max_tokens: 9, messages: next })
  t.same(doors.asked().messages, [messages[0], { role: 'user', content: 'Go on' }])
})

/** Answers to each dialect, whole and as a stream, first of the long way and then of the straight one. */
const answersOf = async (doors: Doors) => {
  const common = { model: 'chat', messages }
  const told = []
  for (const stream of [false, true, false, true]) {
    const answers = await Promise.all([
      doors.call('POST', '/v1/chat/completions', { ...common, stream }),
      doors.call('POST', '/v1/messages', { ...common, max_tokens: 9, stream }),
      doors.call('POST', '/v1/responses', { model: 'chat', input: 'Hi', stream }),
    ])
    told.push(
      ...(await Promise.all(
        answers.map(async (answer) => [answer.status, Buffer.from(await answer.arrayBuffer()).toString()] as const),
      )),
    )
  }
  return told
}

const hello = { index: 0, message: { role: 'assistant', content: 'Hi, you' }, finish_reason: 'stop' }
const greeting = { id: 'c1', object: 'chat.completion', created: 1, model: 'chat', choices: [hello] }
const greets = streamed(chunk({ role: 'assistant', content: 'Hi, you' }), chunk({}, 'stop'))

t.test('an answer may begin with a byte order mark, which no client gets', async (t) => {
  let more = ''
  const doors = await opened(t, ({ path, body }) => {
    if (path.endsWith('/models')) return { body: '\ufeff[{"id":"listed"}]' }
    if (JSON.parse(body.toString()).stream === true) return { ...greets, body: `\ufeff${greets.body as string}` }
    const type = { 'content-type': 'application/json' }
    return { headers: type, body: `\ufeff${JSON.stringify({ ...greeting, more })}` }
  })
  for (more of ['', 'x'.repeat(1024 * 1024)])
    for (const [status, text] of await answersOf(doors)) {
      t.match([status, text], [200, /Hi, you/])
      t.notMatch(text, '\ufeff')
    }
})

const codings = { gzip: gzipSync, 'x-gzip': gzipSync, br: brotliCompressSync, deflate: deflateSync } as const

t.test('an answer that comes packed is unpacked, though nobody wanted it so', async (t) => {
  let [coding, cut, usage]: [keyof typeof codings, number, string | undefined] = ['gzip', 0, undefined]
  const doors = await opened(t, ({ body }) => {
    const isStream = JSON.parse(body.toString()).stream === true
    const type = { 'content-type': 'application/json' }
    const { headers, body: plain } = isStream ? greets : { headers: type, body: JSON.stringify({ ...greeting, usage }) }
    const packed = codings[coding](plain as string)
    return { headers: { ...headers, 'content-encoding': coding }, body: packed.subarray(0, packed.length - cut) }
  })
  for (coding of Object.keys(codings) as (keyof typeof codings)[])
    for (const answer of await answersOf(doors)) t.match(answer, [200, /Hi, you/], coding)
  usage = randomBytes(400_000).toString('base64')
  for (const answer of await answersOf(doors)) t.match(answer, [200, /Hi, you/], 'a long one')
  cut = 30
  for (const [status, text] of await answersOf(doors)) t.match([status, text], /503|529|error/, 'a broken one')
})

t.test('an answer without an id has one of its own for clients of Messages', async (t) => {
  let id: unknown
  const doors = await opened(t, ({ body }) => {
    if (JSON.parse(body.toString()).stream === true) return streamed({ ...chunk({ content: 'Hi' }, 'stop'), id })
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...greeting, id }) }
  })
  const seen = new Set<string>()
  for (id of [undefined, null, '', 5])
    for (const stream of [false, true]) {
      const answer = await bySdk(doors, stream)
      t.match(answer, { status: 200, id: /^msg_[\w-]{8}/ }, `${id}`)
      seen.add(answer.id)
    }
  t.equal(seen.size, 8)
})
