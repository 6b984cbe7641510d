import t from 'tap'
import { usageOf } from '../../../core/dialects/chat-completions.ts'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'
import bedrock from '../../../plugins/providers/bedrock.ts'
import { conform } from '../../contracts/contract.ts'
import { counter } from '../../contracts/counter.ts'
import { upstream } from '../../contracts/upstream.ts'
import { eventFrame, frame, framesOf, rawFrame, sumOf, wrapped } from '../../fakes/event-frames.ts'
import { expectedSignature } from '../../fakes/signature-v4.ts'
import {
  backend,
  eventStream,
  everyCut,
  provided,
  staged,
  stagedCount,
  vector,
  type Recording,
} from '../../contracts/stage.ts'
import { comparedOf, completed, json, messages, never, refusal } from '../../fakes/vendor.ts'
import { failed } from '../../helpers.ts'

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const type = 'application/vnd.amazon.eventstream'

const recording: Recording = {
  provider: bedrock,
  settings: (url) => ({ region: 'eu-west-1', ...keys, baseUrl: url, listUrl: url }),
  model: 'amazon.nova-lite-v1:0',
  vectors: 'bedrock',
  stream: { ending: 'ndjson', type, broken: '{"type":"contentBlockDelta","payload":"nothing"}\n' },
  encode: framesOf,
  lists: /^\/(foundation-models|inference-profiles\?maxResults=1000)$/,
  chats: /^\/model\/[^/]+\/converse(-stream)?$/,
  streams: (path) => path.endsWith('-stream'),
  counts: /^\/model\/[^/]+\/count-tokens$/,
}

const claude: Recording = {
  ...recording,
  model: 'eu.anthropic.claude-sonnet-4-6-v1:0',
  vectors: 'anthropic',
  stream: { ...eventStream, type, broken: 'data: {"type": nothing\n\n' },
  encode: wrapped,
  chats: /^\/model\/[^/]+\/invoke(-with-response-stream)?$/,
}

t.test('contract of models that converse', (t) =>
  conform(t, upstream.contract, async (t) => {
    const stage = await staged(t, recording)
    // Fields of the model itself stand apart, and its name stands in the path.
    const asked = () => ({
      ...(stage.asked()['additionalModelRequestFields'] as object),
      ...stage.asked(),
      model: recording.model,
    })
    return { ...stage, asked }
  }),
)

t.test('contract of Claude', (t) =>
  conform(
    t,
    upstream.contract,
    async (t) => {
      const stage = await staged(t, claude)
      return { ...stage, asked: () => ({ ...stage.asked(), model: claude.model }) }
    },
    { 'lists its models': 'the list is that of all models' },
  ),
)

t.test('contract of counters', (t) =>
  conform(t, counter.contract, (t) => stagedCount(t, recording), {
    'a refusal is the caller’s, without a word of the backend': 'a model that it does not count for is refused alike',
  }),
)

t.test('a prompt is counted in the form in which its model is asked', async (t) => {
  const how = { status: 200 }
  const server = await backend(t, async () => ({
    status: how.status,
    headers: json,
    body: await vector(how.status === 200 ? 'bedrock/count.json' : 'bedrock/error-400.json'),
  }))
  const upstream = await provided(t, bedrock, recording.settings(server.url))
  const input = () => JSON.parse(server.asked.at(-1)!.body.toString()).input
  const body = { messages: [{ role: 'system', content: 'Be short.' }, ...messages], max_tokens: 9, temperature: 0.5 }
  t.same(await upstream.countTokens!({ model: recording.model, body }, never), { tokens: 21 })
  t.same(input(), {
    converse: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }], system: [{ text: 'Be short.' }] },
  })
  const native = { dialect: 'messages', body: { messages }, headers: { 'anthropic-beta': 'one' } } as const
  t.same(await upstream.countTokens!({ model: claude.model, body, native }, never), { tokens: 21 })
  t.same(JSON.parse(Buffer.from(input().invokeModel.body, 'base64').toString()), {
    max_tokens: 32_000,
    anthropic_version: 'bedrock-2023-05-31',
    anthropic_beta: ['one'],
    messages,
  })
  how.status = 400
  t.equal(await upstream.countTokens!({ model: claude.model, body }, never), null, 'a model that is not counted for')
})

t.test('a stream that ends anywhere before its last event throws', async (t) => {
  const { bytes, fooled } = await everyCut(t, recording)
  t.ok(bytes > 2000)
  t.same(fooled, [bytes])
})

/** A region that notes each request and answers what the path asks for. */
const region = async (t: Parameters<typeof staged>[0], settings: object) => {
  const server = await backend(t, async ({ path }) => {
    if (recording.lists.test(path)) return { headers: json, body: await vector('bedrock/models.json') }
    return { headers: json, body: await vector('bedrock/chat.json') }
  })
  const upstream = await provided(t, bedrock, {
    region: 'eu-west-1',
    baseUrl: server.url,
    listUrl: server.url,
    ...settings,
  })
  return { upstream, server }
}

t.test('the check of signatures agrees with the published example', (t) => {
  const signature = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'
  const asked = {
    method: 'GET',
    path: '/',
    body: Buffer.alloc(0),
    headers: {
      host: 'example.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    },
  }
  t.match(expectedSignature(asked, keys.secretAccessKey), { expected: signature, keyId: 'AKIDEXAMPLE' })
  t.end()
})

t.test('each request is signed', async (t) => {
  const { upstream, server } = await region(t, { ...keys, sessionToken: 'session-1' })
  await upstream.models(never)
  const body = { messages: [{ role: 'user', content: 'Wie geht’s? 😀' }] }
  for (const model of [recording.model, 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.amazon.nova-pro-v1:0']) {
    await completed(upstream, { model, stream: false, body })
  }
  t.equal(server.asked.length, 4)
  t.equal(server.asked[2]!.path, '/model/amazon.nova-lite-v1%3A0/converse')
  for (const request of server.asked) {
    const signature = expectedSignature(request, keys.secretAccessKey)
    t.match(signature, { keyId: 'AKIDEXAMPLE', region: 'eu-west-1', service: 'bedrock' }, request.path)
    t.equal(signature?.signature, signature?.expected, 'the signature is that of the request')
    for (const name of ['host', 'x-amz-date', 'x-amz-security-token']) t.ok(signature?.signed.includes(name), name)
    t.equal(request.headers['x-amz-security-token'], 'session-1')
    t.notMatch(JSON.stringify([request.path, request.headers, request.body.toString()]), keys.secretAccessKey)
  }
})

t.test('an API key stands for the signature', async (t) => {
  const { upstream, server } = await region(t, { apiKey: 'bedrock-key-1' })
  await completed(upstream, { model: recording.model, stream: false, body: { messages } })
  t.equal(server.asked[0]!.headers.authorization, 'Bearer bedrock-key-1')
  t.equal(server.asked[0]!.headers['x-amz-date'], undefined)
  const wrong = { message: 'bedrock: expected either apiKey or accessKeyId with secretAccessKey' }
  for (const settings of [{}, { apiKey: 'k', ...keys }, { accessKeyId: 'k' }, { secretAccessKey: 's' }]) {
    await t.rejects(region(t, settings), wrong)
  }
})

t.test('a conversation becomes that of Converse', async (t) => {
  const { upstream, server } = await region(t, keys)
  for (const { model, ours, theirs } of await comparedOf('bedrock')) {
    await completed(upstream, { model, stream: false, body: ours as ChatBody })
    t.same(JSON.parse(server.asked.at(-1)!.body.toString()), theirs)
    t.ok(upstream.unheard?.(model).has('seed'), 'what is left out is told')
  }
  const far = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x/y.png' } }] }] }
  await t.rejects(completed(upstream, { model: recording.model, stream: false, body: far }), BadRequest)
})

t.test('documents, videos, marks of caches and schemas have their places in Converse', async (t) => {
  const { upstream, server } = await region(t, keys)
  const asked = async (body: ChatBody, model = recording.model) => {
    await completed(upstream, { model, stream: false, body })
    return JSON.parse(server.asked.at(-1)!.body.toString())
  }
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const cachePoint = { cachePoint: { type: 'default', ttl: '1h' } }
  const schema = { type: 'object', properties: { n: { type: 'number' } } }
  const body: ChatBody = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be short.', ...mark }] },
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'my__report.v2.pdf', file_data: 'data:application/pdf;base64,AAEC' } },
          { type: 'video_url', video_url: { url: 'data:video/quicktime;base64,BBBB' } },
          { type: 'text', text: 'What?', ...mark },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'look' }, ...mark }],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', description: 'One.', schema } },
  }
  const { system, messages: [turn], toolConfig, outputConfig } = await asked(body) // prettier-ignore
  t.same(system, [{ text: 'Be short.' }, cachePoint])
  t.same(turn.content, [
    { document: { format: 'pdf', name: 'my report v2', source: { bytes: 'AAEC' } } },
    { video: { format: 'mov', source: { bytes: 'BBBB' } } },
    { text: 'What?' },
    cachePoint,
  ])
  t.same(toolConfig.tools.slice(1), [cachePoint])
  const { name, description, schema: text } = outputConfig.textFormat.structure.jsonSchema
  t.same([outputConfig.textFormat.type, name, description], ['json_schema', 'answer', 'One.'])
  t.same(JSON.parse(text), { ...schema, additionalProperties: false })
  t.notOk(upstream.unheard?.(recording.model, body).has('response_format'))
  const loose = { ...body, response_format: { type: 'json_object' } }
  t.ok(upstream.unheard?.(recording.model, loose).has('response_format'), 'another form is told')
  t.notOk('outputConfig' in (await asked(loose)))
  const odd = [{ type: 'file', file: { file_data: 'data:application/zip;base64,AAEC' } }]
  await t.rejects(asked({ messages: [{ role: 'user', content: odd }] }), BadRequest)
})

t.test('a conversation with calls goes on without tools', async (t) => {
  const { upstream, server } = await region(t, keys)
  const asked = async (body: object) => {
    await completed(upstream, { model: recording.model, stream: false, body: body as ChatBody })
    return JSON.parse(server.asked.at(-1)!.body.toString())
  }
  const call = (name: string) => ({ id: name, type: 'function', function: { name, arguments: '{}' } })
  const messages = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: null, tool_calls: [call('look'), call('hear'), call('look')] },
    ...['look', 'hear', 'look'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'Herons' })),
  ]
  for (const more of [{}, { tools: [] }, { tool_choice: 'none' }]) {
    const { toolConfig } = await asked({ ...more, messages })
    t.same(Object.keys(toolConfig), ['tools'])
    t.same(
      toolConfig.tools.map(({ toolSpec }: any) => toolSpec.name),
      ['look', 'hear'],
      'the names that were called',
    )
    t.same(toolConfig.tools[0].toolSpec.inputSchema, { json: { type: 'object', properties: {} } })
  }
  t.notOk('toolConfig' in (await asked({ messages: messages.slice(0, 1) })))
})

t.test('thoughts of Converse come back with their signatures', async (t) => {
  const thought = { reasoningText: { text: 'We count.', signature: 'c2ln' } }
  const hidden = { redactedContent: 'aGlk' }
  const whole = {
    output: {
      message: { content: [{ reasoningContent: thought }, { reasoningContent: hidden }, { text: 'Hi' }] },
    },
    stopReason: 'end_turn',
  }
  const events = [
    { type: 'messageStart', payload: {} },
    { type: 'contentBlockDelta', payload: { contentBlockIndex: 0, delta: { reasoningContent: { text: 'We ' } } } },
    { type: 'contentBlockDelta', payload: { contentBlockIndex: 0, delta: { reasoningContent: { text: 'count.' } } } },
    {
      type: 'contentBlockDelta',
      payload: { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'c2ln' } } },
    },
    { type: 'contentBlockStop', payload: { contentBlockIndex: 0 } },
    { type: 'contentBlockDelta', payload: { contentBlockIndex: 1, delta: { reasoningContent: hidden } } },
    { type: 'contentBlockStop', payload: { contentBlockIndex: 1 } },
    { type: 'contentBlockDelta', payload: { contentBlockIndex: 2, delta: { text: 'Hi' } } },
    { type: 'messageStop', payload: { stopReason: 'end_turn' } },
    { type: 'metadata', payload: { usage: {} } },
  ]
  const lines = Buffer.from(events.map((event) => JSON.stringify(event)).join('\n'))
  const server = await backend(t, ({ path }) =>
    path.endsWith('stream')
      ? { headers: { 'content-type': type }, body: Buffer.from(framesOf(lines)) }
      : { headers: json, body: JSON.stringify(whole) },
  )
  const upstream = await provided(t, bedrock, recording.settings(server.url))
  const told = () => JSON.parse(server.asked.at(-1)!.body.toString()).messages[1].content
  for (const stream of [false, true]) {
    const { choices } = await completed(upstream, { model: recording.model, stream, body: { messages } })
    const { message } = choices[0]!
    t.equal(message['reasoning_content'], 'We count.')
    const next = { messages: [...messages, message, ...messages] }
    await completed(upstream, { model: recording.model, stream: false, body: next })
    t.same(told(), [{ reasoningContent: thought }, { reasoningContent: hidden }, { text: 'Hi' }], `streamed: ${stream}`)
    await completed(upstream, { model: 'us.deepseek.r1-v1:0', stream: false, body: next })
    t.same(told(), [{ text: 'Hi' }], 'a model that refuses thoughts gets none')
  }
})

t.test('Claude gets its own dialect, and a caller’s own request as it is', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('anthropic/chat.json') }))
  const upstream = await provided(t, bedrock, claude.settings(server.url))
  t.equal(typeof upstream.dialect === 'function' && upstream.dialect(claude.model), 'messages')
  t.equal(typeof upstream.dialect === 'function' && upstream.dialect(recording.model), undefined)
  await completed(upstream, { model: claude.model, stream: false, body: { messages, max_tokens: 9 } })
  const native = {
    dialect: 'messages',
    body: { messages, max_tokens: 5, thinking: { type: 'disabled' } },
    headers: { 'anthropic-beta': 'one, two' },
  } as const
  const answer = await upstream.chat!({ model: claude.model, stream: false, body: { messages }, native }, never)
  t.match(answer, { native: { dialect: 'messages', body: { type: 'message' } } })
  const [first, second] = server.asked.map(({ body }) => JSON.parse(body.toString()))
  t.same(first, {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  })
  t.same(second, { anthropic_version: 'bedrock-2023-05-31', anthropic_beta: ['one', 'two'], ...native.body })
})

t.test('models, profiles, and a list of one’s own', async (t) => {
  const { upstream } = await region(t, keys)
  t.same(await upstream.models(never), [
    { id: 'amazon.nova-lite-v1:0', type: 'CHAT', description: 'Nova Lite', modalities: ['text', 'image', 'video'] },
    {
      id: 'amazon.titan-embed-text-v2:0',
      type: 'EMBEDDING',
      description: 'Titan Text Embeddings V2',
      modalities: ['text'],
    },
    {
      id: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      type: 'CHAT',
      description: 'Claude Sonnet 4.5',
      modalities: ['text', 'image'],
    },
  ])
  const own = { models: { 'amazon.nova-pro-v1:0': 'CHAT' } }
  const listed = [{ id: 'amazon.nova-pro-v1:0', type: 'CHAT' }]
  t.same(await (await region(t, { ...keys, ...own })).upstream.models(never), listed)
  const listing = async (status: number) => {
    const server = await backend(t, async () => ({
      status,
      headers: json,
      body: await vector('bedrock/error-403.json'),
    }))
    return (await provided(t, bedrock, { ...recording.settings(server.url), ...own })).models(never)
  }
  t.same(await listing(403), listed, 'credentials that may not list')
  t.match(await failed(listing(401)), { constructor: UpstreamFailed, answered: 401 })
})

t.test('usage tells what the cache keeps for an hour', async (t) => {
  const told = { inputTokens: 10, outputTokens: 2, totalTokens: 112, cacheWriteInputTokens: 100 }
  for (const [cacheDetails, written] of [
    [
      [
        { ttl: '1h', inputTokens: 70 },
        { ttl: '5m', inputTokens: 30 },
      ],
      { written: 30, writtenHour: 70 },
    ],
    [[{ ttl: '5m', inputTokens: 100 }, null], { written: 100 }],
    [undefined, { written: 100 }],
  ] as const) {
    const output = { message: { role: 'assistant', content: [{ text: 'ok' }] } }
    const answer = { output, stopReason: 'end_turn', usage: { ...told, ...(cacheDetails && { cacheDetails }) } }
    const server = await backend(t, () => ({ headers: json, body: JSON.stringify(answer) }))
    const ours = await provided(t, bedrock, { region: 'eu-west-1', ...keys, baseUrl: server.url, listUrl: server.url })
    const { usage } = await completed(ours, { model: 'amazon.nova-lite-v1:0', stream: false, body: { messages } })
    t.same(usageOf(usage), { input: 110, output: 2, cached: 0, ...written })
  }
})

t.test('usage counts what the cache held', async (t) => {
  const { upstream } = await region(t, keys)
  const { usage, choices } = await completed(upstream, { model: recording.model, stream: false, body: { messages } })
  t.match(usage, { prompt_tokens: 19, completion_tokens: 11, prompt_tokens_details: { cached_tokens: 16 } })
  t.equal(choices[0]!.message['reasoning_content'], 'We count them.')
})

t.test('vectors by Amazon and by Cohere', async (t) => {
  const server = await backend(t, ({ path }) =>
    path.includes('titan')
      ? { headers: json, body: '{"embedding":[1,2],"inputTextTokenCount":3}' }
      : {
          headers: { ...json, 'x-amzn-bedrock-input-token-count': '7' },
          body: '{"embeddings":{"float":[[1,2],[3,4]]},"id":"e"}',
        },
  )
  const upstream = await provided(t, bedrock, recording.settings(server.url))
  const titan = await upstream.embed!(
    { model: 'amazon.titan-embed-text-v2:0', texts: ['a', 'b'], dimensions: 256 },
    never,
  )
  t.same(titan.usage, { input: 6, output: 0 })
  t.equal(titan.vectors.length, 2)
  const cohere = await upstream.embed!({ model: 'cohere.embed-multilingual-v3', texts: ['a', 'b'] }, never)
  t.same(
    cohere.vectors.map((one) => [...one]),
    [
      [1, 2],
      [3, 4],
    ],
  )
  t.same(cohere.usage, { input: 7, output: 0 })
  const [first, , third] = server.asked.map(({ body }) => JSON.parse(body.toString()))
  t.same(first, { inputText: 'a', dimensions: 256 })
  t.same(third, { input_type: 'search_document', texts: ['a', 'b'] })
  await t.rejects(upstream.embed!({ model: 'amazon.nova-lite-v1:0', texts: ['a'] }, never), BadRequest)
})

t.test('refusals', async (t) => {
  const said = (message: string) => JSON.stringify({ message })
  const long = await refusal(t, recording, 400, said('Input is too long for requested model.'))
  t.match(long, { constructor: BadRequest, code: 'context_length_exceeded' })
  const failedModel = await refusal(t, recording, 424, said('The model failed'))
  t.match(failedModel, { constructor: UpstreamFailed, again: true, answered: 424 })
  t.match(await refusal(t, recording, 403, said('no')), { constructor: UpstreamFailed, again: true, answered: 403 })
  t.match(await refusal(t, recording, 429, said('Too many requests'), { 'retry-after': '2' }), { retryAfter: 2000 })
})

t.test('frames that are not as they were sent', async (t) => {
  const good = framesOf(await vector('bedrock/chat.ndjson'))
  const first = good.readUInt32BE(0)
  const changed = (at: number) => {
    const bytes = Buffer.from(good)
    bytes[at] = bytes[at]! ^ 1
    return bytes
  }
  const none = Buffer.alloc(0)
  const huge = Buffer.from(good)
  huge.writeUInt32BE(0x7fffffff, 0)
  huge.writeUInt32BE(sumOf(huge.subarray(0, 8)), 8)
  const bad: readonly (readonly [string, Buffer, string])[] = [
    ['a length', changed(2), 'A frame begins with a wrong sum'],
    ['a sum of the beginning', changed(9), 'A frame begins with a wrong sum'],
    ['a header', changed(14), 'A frame with a wrong sum'],
    ['a payload', changed(first - 10), 'A frame with a wrong sum'],
    ['a sum of the whole', changed(first - 1), 'A frame with a wrong sum'],
    ['a length beyond all bounds', huge, 'A frame of a wrong length'],
    [
      'a header of no known type',
      Buffer.concat([rawFrame(Buffer.from([1, 0x61, 99]), none), good]),
      'A header of an unknown type',
    ],
    [
      'a header that ends too late',
      Buffer.concat([rawFrame(Buffer.from([1, 0x61, 7, 0xff, 0xff]), none), good]),
      'A header ends behind its frame',
    ],
  ]
  for (const [what, body, message] of bad) {
    const server = await backend(t, () => ({ headers: { 'content-type': type }, body }))
    const upstream = await provided(t, bedrock, recording.settings(server.url))
    const work = completed(upstream, { model: recording.model, stream: true, body: { messages } })
    t.match(await failed(work), { constructor: UpstreamFailed, again: true, cause: { message } }, what)
  }
})

t.test(
  'a conversation that begins with the assistant goes to Bedrock as it is, whose sentence the caller gets',
  async (t) => {
    const sentence = 'A conversation must start with a user message. Try again with a conversation that starts with a user message.' // prettier-ignore
    const server = await backend(t, () => ({ status: 400, headers: json, body: JSON.stringify({ message: sentence }) }))
    const upstream = await provided(t, bedrock, recording.settings(server.url))
    const greeted: ChatBody = { messages: [{ role: 'assistant', content: 'Hello' }, ...messages] }
    const fault = await failed(completed(upstream, { model: recording.model, stream: false, body: greeted }))
    t.match(fault, { constructor: BadRequest, told: sentence })
    t.match(JSON.parse(server.asked[0]!.body.toString()).messages[0], {
      role: 'assistant',
      content: [{ text: 'Hello' }],
    })
  },
)

t.test('exceptions inside a stream have their classes', async (t) => {
  const begun = eventFrame('messageStart', '{"role":"assistant"}')
  const thrown = async (kind: string, message: string) => {
    const exception = frame({ ':exception-type': kind, ':message-type': 'exception' }, JSON.stringify({ message }))
    const body = Buffer.concat([begun, exception])
    const server = await backend(t, () => ({ headers: { 'content-type': type }, body }))
    const upstream = await provided(t, bedrock, recording.settings(server.url))
    return failed(completed(upstream, { model: recording.model, stream: true, body: { messages } }))
  }
  t.match(await thrown('throttlingException', 'Wait'), { constructor: UpstreamFailed, again: true, answered: 429 })
  t.match(await thrown('modelStreamErrorException', 'Broken'), { constructor: UpstreamFailed, again: true })
  t.match(await thrown('validationException', 'Input is too long for requested model.'), {
    constructor: BadRequest,
    code: 'context_length_exceeded',
  })
})
