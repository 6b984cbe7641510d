import t from 'tap'
import { opened, type Doors } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'

const hello = scripted(() => [{ say: 'Hello.' }])

/** As some program prints it: spaces, escapes, numbers that JavaScript writes in another way, digits that it loses. */
const odd = '{ "type":"object", "n": 1.0, "big" : 12345678901234567890, "\\u0061":"\\u00e9\\/" }'

const member = (name: string, text: string) => `"${name}" : ${text}`

interface Door {
  readonly path: string
  /** Members that the backend is given as they came. */
  readonly members: readonly string[]
  readonly rest: readonly string[]
}

const turns = `[ {"role":"user", "content":"Hi\\u0021"} ]`
const functions = `[ {"type":"function", "function":{"name":"look","parameters":${odd}}} ]`
const blocks = `[ {"role":"user","content":[ {"type":"text","text":"\\u0048i"} ]} ]`

const chat = (path: string): Door => ({
  path,
  members: [member('messages', turns), member('tools', functions)],
  rest: ['"model":"chat"'],
})

const doors: Readonly<Record<string, Door>> = {
  'the interface': chat('/std/chat/completions'),
  'chat completions': chat('/v1/chat/completions'),
  Responses: {
    path: '/v1/responses',
    members: [
      member('input', '[ {"role":"user", "content":"\\u0048i"} ]'),
      member('tools', `[ {"type":"function","name":"look","strict":false, "parameters":${odd}} ]`),
    ],
    rest: ['"model":"responses"'],
  },
  Messages: {
    path: '/v1/messages',
    members: [
      member('messages', blocks),
      member('system', '[ {"type":"text","text":"You \\u0068elp", "cache_control":{ "type":"ephemeral"}} ]'),
      member('tools', `[ {"name":"look","input_schema":${odd}} ]`),
    ],
    rest: ['"model":"messages"', '"max_tokens":100'],
  },
  Gemini: {
    path: '/v1beta/models/gemini:generateContent',
    members: [
      member('contents', '[ {"role":"user","parts":[ {"text":"\\u0048i"} ]} ]'),
      member('tools', `[ {"functionDeclarations":[ {"name":"look","parametersJsonSchema":${odd}} ]} ]`),
    ],
    rest: [],
  },
}

/** A raw body, which the gateway gets to the byte. */
const post = (doors: Doors, { path }: Door, body: string | Uint8Array) =>
  fetch(doors.base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${doors.key}`, 'content-type': 'application/json' },
    body: body as BodyInit,
  })

const bodyOf = ({ members, rest }: Door, ...more: readonly string[]) =>
  `{ ${[...rest, ...members, ...more].join(' , ')} }`

for (const [name, door] of Object.entries(doors)) {
  t.test(`${name}: what a conversation holds reaches a backend of its dialect byte for byte`, async (t) => {
    const doors = await opened(t, hello)
    const answer = await post(doors, door, bodyOf(door))
    t.equal(answer.status, 200, await answer.text())
    const sent = doors.backend.asked.at(-1)!.body.toString()
    for (const text of door.members) t.ok(sent.includes(text.replace(' : ', ':')), `${text} in ${sent}`)
  })

  t.test(`${name}: a body that parsers may read in two ways is refused or made plain`, async (t) => {
    const doors = await opened(t, hello)
    const [first] = door.members
    const before = doors.backend.asked.length
    const refused: Readonly<Record<string, string | Uint8Array>> = {
      'a name that stands twice': bodyOf(door, first!),
      'a name that stands twice, escaped once': bodyOf(
        door,
        first!.replace(/^"(.)/, (_, text: string) => `"\\u00${text.charCodeAt(0).toString(16)}`),
      ),
      'a byte order mark': `\ufeff${bodyOf(door)}`,
      'no UTF-8': Buffer.concat([Buffer.from(bodyOf(door).slice(0, -2)), Buffer.from(',"x":"\xff"}', 'latin1')]),
    }
    for (const [why, body] of Object.entries(refused)) t.equal((await post(doors, door, body)).status, 400, why)
    t.equal(doors.backend.asked.length, before, 'no backend was asked')

    const within = bodyOf(door).replace('"n": 1.0', '"n": 1.0, "n": 2')
    t.equal((await post(doors, door, within)).status, 200)
    const sent = doors.backend.asked.at(-1)!.body.toString()
    t.match(sent, '"n":2')
    t.notMatch(sent, '1.0')
  })
}

const sse = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }

/** Answers of each dialect as no printer of ours writes them, under the backend's own name of the model. */
const answers: Readonly<
  Record<string, { readonly whole: string; readonly events: readonly string[]; readonly end: string }>
> = {
  'chat completions': {
    whole: `{"id":"c1","object":"chat.completion","created":1,"model":"OWN","choices":[ {"index":0,"message":{"role":"assistant","content":"\\u0048i","refusal":null,"extra":${odd}},"logprobs":null,"finish_reason":"stop"} ],"usage":{ "prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
    events: [
      ...['\\u0048i', ' there', ' \\"you\\"', '!'].map(
        (text) =>
          `data: {"id":"c1", "object":"chat.completion.chunk","created":1,"model":"OWN","choices":[ {"index":0,"delta":{"content":"${text}"},"logprobs":null,"finish_reason":null}]}`,
      ),
      `data: {"id":"c1","created":1,"object":"chat.completion.chunk", "model":"OWN","extra":${odd},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
    ],
    end: '\n\ndata: [DONE]\n\n',
  },
  Messages: {
    whole: `{"id":"msg_1","type":"message","role":"assistant","model":"OWN","content":[ {"type":"text","text":"\\u0048i"},{"type":"own_kind","input":${odd}} ],"stop_reason":"end_turn","stop_sequence":null,"usage":{ "input_tokens":1,"output_tokens":1}}`,
    events: [
      'event: message_start\ndata: {"type":"message_start", "message":{"id":"msg_1","type":"message","role":"assistant","model":"OWN","content":[],"usage":{"input_tokens":1}}}',
      'event: ping\ndata: {"type": "ping"}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"own_kind", "more":1.0}}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\\u0048i \\"model\\":\\"OWN\\""}}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}',
      `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1,"extra":${odd}}}`,
      'event: message_stop\ndata: {"type":"message_stop" }',
    ],
    end: '\n\n',
  },
  Gemini: {
    whole: `{"candidates":[ {"content":{"role":"model","parts":[{"text":"\\u0048i"}]},"finishReason":"STOP","extra":${odd}} ],"usageMetadata":{ "promptTokenCount":1},"modelVersion":"OWN","responseId":"r1"}`,
    events: [
      'data: {"candidates": [{"content":{"role":"model","parts":[{"text":"\\u0048i"}]}}],"modelVersion":"OWN"}',
      `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"!"}]},"finishReason":"STOP","extra":${odd}}],"usageMetadata":{ "promptTokenCount":1},"modelVersion":"OWN"}`,
    ],
    end: '\n\n',
  },
}

const models: Readonly<Record<string, string>> = { 'chat completions': 'chat', Messages: 'messages', Gemini: 'gemini' }

for (const [name, { whole, events, end }] of Object.entries(answers)) {
  const door = doors[name]!
  const asked = { stream: '"stream":true,"stream_options":{"include_usage":true}', whole: '"stream":false' }

  t.test(`${name}: an answer comes back byte for byte but for the name of its model`, async (t) => {
    const doors = await opened(t, () => ({ headers: json, body: whole.replace('OWN', 'its-own') }))
    const body = name === 'Gemini' ? bodyOf(door) : bodyOf(door, asked.whole)
    t.equal(await (await post(doors, door, body)).text(), whole.replace('OWN', models[name]!))
  })

  t.test(`${name}: events come back byte for byte but for the name of the model`, async (t) => {
    const all = (model: string) =>
      events
        .join('\n\n')
        .replaceAll('"model":"OWN"', `"model":"${model}"`)
        .replaceAll('Version":"OWN"', `Version":"${model}"`) + end
    const doors = await opened(t, () => ({ headers: sse, body: all('its-own') }))
    const streaming =
      name === 'Gemini' ? { ...door, path: door.path.replace(':generate', ':streamGenerate') + '?alt=sse' } : door
    const body = name === 'Gemini' ? bodyOf(door) : bodyOf(door, asked.stream)
    t.equal(await (await post(doors, streaming, body)).text(), all(models[name]!))
  })
}

t.test('Messages: a stream that breaks is gone on with in the block that it left open', async (t) => {
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const start = (index: number, type: string) =>
    event('content_block_start', { index, content_block: { type, ...(type === 'text' && { text: '' }) } })
  const say = (index: number, text: string) =>
    event('content_block_delta', { index, delta: { type: 'text_delta', text } })
  const begin = event('message_start', { message: { id: 'msg_1', model: 'own', usage: { input_tokens: 3 } } })
  const broken =
    begin + start(0, 'own_kind') + event('content_block_stop', { index: 0 }) + start(1, 'text') + say(1, 'Once upon ')
  const rest =
    begin +
    start(0, 'text') +
    say(0, 'a time.') +
    event('content_block_stop', { index: 0 }) +
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }) +
    event('message_stop', {})
  let calls = 0
  const play = () =>
    calls++ === 0 ? { headers: sse, body: `${broken}x`, pace: { cut: broken.length } } : { headers: sse, body: rest }
  const upstreams = [{ provider: 'messages', model: 'claude-3-haiku-20240307' }]
  const gateway = await opened(t, play, {}, { models: { messages: { continues: true, upstreams } } })
  const answer = await (await post(gateway, doors['Messages']!, bodyOf(doors['Messages']!, '"stream":true'))).text()
  t.ok(answer.startsWith(broken.replace('"own"', '"messages"')), answer)
  const then = answer.slice(broken.length + 'messages'.length - 'own'.length)
  const told = [...then.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
  t.match(told, [
    { type: 'content_block_delta', index: 1, delta: { text: 'a time.' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ])
  t.equal(told.length, 4)
})

t.test('Messages: a head that a backend sends twice comes once', async (t) => {
  const { events, end } = answers['Messages']!
  const told = (model: string, all: readonly string[]) => all.join('\n\n').replaceAll('"OWN"', `"${model}"`) + end
  const gateway = await opened(t, () => ({ headers: sse, body: told('its-own', [events[0]!, ...events]) }))
  const answer = await post(gateway, doors['Messages']!, bodyOf(doors['Messages']!, '"stream":true'))
  const text = await answer.text()
  t.equal(text.split('message_start"').length, 2)
  t.ok(text.endsWith(told('messages', events.slice(1)).slice(-200)), text)
})
