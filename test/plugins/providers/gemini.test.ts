import { GoogleGenAI } from '@google/genai'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { usageOf } from '../../../core/dialects/chat-completions.ts'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import { use } from '../../../core/plugin.ts'
import type { ChatBody, TranscribeCall } from '../../../core/ports/upstream.ts'
import gemini from '../../../plugins/providers/gemini.ts'
import { conform } from '../../contracts/contract.ts'
import { counter } from '../../contracts/counter.ts'
import { upstream } from '../../contracts/upstream.ts'
import { running } from '../../environments.ts'
import type { Take } from '../../fakes/recorded.ts'
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
import {
  type Compared,
  bodyOf,
  compare,
  comparedOf,
  messages,
  never,
  numbersOf,
  recordedVectors,
  whole,
} from '../../fakes/vendor.ts'

const chats = /^\/v1beta\/models\/([^/]+):(generateContent|streamGenerateContent\?alt=sse)$/

const recording: Recording = {
  provider: gemini,
  settings: (url) => ({ apiKey: 'AIza-1', baseUrl: `${url}/v1beta` }),
  model: 'gemini-2.5-flash',
  vectors: 'gemini',
  stream: { ...eventStream, type: 'text/event-stream' },
  lists: /^\/v1beta\/models\?pageSize=1000$/,
  chats,
  streams: (path) => path.includes('streamGenerateContent'),
  counts: /^\/v1beta\/models\/[^/]+:countTokens$/,
}

const json = { 'content-type': 'application/json; charset=UTF-8' }
const sse = { 'content-type': 'text/event-stream' }

t.test('the provider keeps the contract of upstreams', (t) =>
  conform(t, upstream.contract, async (t) => {
    let model: string | undefined
    const streams = (path: string) => {
      model = chats.exec(path)?.[1]
      return path.includes('streamGenerateContent')
    }
    const stage = await staged(t, { ...recording, streams })
    // They want the model in the path.
    return { ...stage, asked: () => ({ ...stage.asked(), model }) }
  }),
)

t.test('the provider keeps the contract of counters', (t) =>
  conform(t, counter.contract, (t) => stagedCount(t, recording)),
)

t.test('contents are counted alone, or as the request that has more', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('gemini/count.json') }))
  const ours = await provided(t, gemini, { apiKey: 'AIza-1', baseUrl: `${server.url}/v1beta` })
  const theirs = new GoogleGenAI({ apiKey: 'AIza-1', httpOptions: { baseUrl: server.url } })
  const model = 'gemini-2.5-flash'
  t.same(await ours.countTokens!({ model, body: { messages } }, never), { tokens: 21 })
  await theirs.models.countTokens({ model, contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] })
  compare(t, server)

  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const body = { contents, systemInstruction: { parts: [{ text: 'Be short.' }] } }
  const native = { dialect: 'generate-content', body, headers: {} } as const
  const counted = await ours.countTokens!({ model, body: { messages }, native }, never)
  t.match(counted, { tokens: 21, native: { body: { totalTokens: 21, promptTokensDetails: [{ tokenCount: 21 }] } } })
  t.same(bodyOf(server.asked.at(-1)!), { generateContentRequest: { model: `models/${model}`, ...body } })
})

t.test('a stream without the end of its answer throws, wherever it ends', async (t) => {
  const { bytes, fooled } = await everyCut(t, recording)
  t.ok(bytes > 2000)
  t.same(fooled, [bytes - 1, bytes], 'only the line feed behind the last return may be missing')
})

t.test('answers have the common format', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const { created, ...answer } = await whole(
      await stage.upstream.chat!({ model: 'm', stream, body: { messages } }, never),
    )
    t.ok(Math.abs(created - Date.now() / 1000) < 60)
    const { logprobs, ...choice } = answer.choices[0] as any
    t.same(
      { ...answer, choices: [choice] },
      {
        id: 'aB3xaM6fK7Kn1MkPvOKmsAY',
        object: 'chat.completion',
        model: 'gemini-2.5-flash',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Two cafés, a 😀 and "10": 2.\nDone.',
              reasoning_content: 'We count them.',
              extra_content: { google: { thought_signature: 'CikB0e2Kb8mAyI1m0lQ2jfqVfP7Pz5cYb2k=' } },
            },
            finish_reason: 'stop',
            native_finish_reason: 'STOP',
            avgLogprobs: -0.01,
          },
        ],
        usage: {
          prompt_tokens: 26,
          completion_tokens: 27,
          total_tokens: 53,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 9 },
          promptTokensDetails: [{ modality: 'TEXT', tokenCount: 26 }],
        },
      },
    )
    t.equal(logprobs.content.map(({ token }: { token: string }) => token).join(''), choice.message.content)
    t.same(logprobs.content[1], {
      token: ' caf',
      logprob: -0.01,
      bytes: [32, 99, 97, 102],
      top_logprobs: [
        { token: ' caf', logprob: -0.01, bytes: [32, 99, 97, 102] },
        { token: ' x', logprob: -4.5, bytes: [32, 120] },
      ],
    })
  }
})

t.test('tool calls carry their signatures to the next turn', async (t) => {
  const stage = await staged(t, recording)
  stage.scene('calls tools')
  for (const stream of [false, true]) {
    const call = { model: 'gemini-3-flash', stream, body: { messages } }
    const { message } = (await whole(await stage.upstream.chat!(call, never))).choices[0]!
    const ids = message.tool_calls!.map(({ id }) => id)
    t.same(ids, ['ax7fj3k1', 'ax7fj3k2'])
    const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: '{"sky":"blue"}' }))
    const next = { ...call, body: { messages: [...messages, message, ...results] } }
    await stage.upstream.chat!(next, never)
    const { contents } = stage.asked() as any
    t.same(contents[1].parts, [
      {
        functionCall: { id: 'ax7fj3k1', name: 'weather', args: { city: 'Lima' } },
        thoughtSignature: 'CikB0e2Kb8mAyI1m0lQ2jfqVfP7Pz5cYb2k=',
      },
      { functionCall: { id: 'ax7fj3k2', name: 'weather', args: { city: 'Lima' } } },
    ])
    const response = { sky: 'blue' }
    t.same(
      contents[2].parts,
      ids.map((id) => ({ functionResponse: { id, name: 'weather', response } })),
    )
    const bare = message.tool_calls!.map(({ id, type, function: pair }) => ({ id, type, function: pair }))
    const foreign = { ...call, body: { messages: [...messages, { role: 'assistant', tool_calls: bare }, ...results] } }
    await stage.upstream.chat!(foreign, never)
    const parts = (stage.asked() as any).contents[1].parts
    t.same(
      parts.map(({ thoughtSignature }: any) => thoughtSignature),
      ['skip_thought_signature_validator', undefined],
      'calls of another backend',
    )
    await stage.upstream.chat!({ ...foreign, model: 'gemini-2.5-pro' }, never)
    t.equal((stage.asked() as any).contents[1].parts[0].thoughtSignature, undefined)
  }
})

t.test('requests equal those of the vendor’s own client', async (t) => {
  const server = await backend(t, async ({ method, path }) => {
    if (method === 'GET') {
      return { headers: json, body: await vector(`gemini/models-${path.includes('pageToken') ? 2 : 1}.json`) }
    }
    if (path.includes('streamGenerateContent')) return { headers: sse, body: await vector('gemini/chat.sse') }
    const name = /Embed/.test(path)
      ? 'embeddings'
      : /tts/.test(path)
        ? 'speech'
        : /image/.test(path)
          ? 'image'
          : /transcribe/.test(path)
            ? 'transcribed'
            : 'chat'
    return { headers: json, body: await vector(`gemini/${name}.json`) }
  })
  const ours = await provided(t, gemini, { apiKey: 'AIza-1', baseUrl: `${server.url}/v1beta/` })
  const theirs = new GoogleGenAI({ apiKey: 'AIza-1', httpOptions: { baseUrl: server.url } })

  const headers = ['x-goog-api-key']
  const compared = async ({ model, stream, ours: body, theirs: their }: Compared) => {
    await whole(await ours.chat!({ model, stream, body: body as ChatBody }, never))
    const params = { model, ...structuredClone(their) } as never
    if (stream) for await (const _ of await theirs.models.generateContentStream(params));
    else await theirs.models.generateContent(params)
    compare(t, server, headers)
  }

  for (const pair of await comparedOf('gemini')) await compared(pair)

  const listed = await ours.models(never)
  t.same(listed, [
    { id: 'gemini-2.5-flash', type: 'CHAT', description: 'Gemini 2.5 Flash.' },
    { id: 'gemini-3.8-flash-tts', type: 'AUDIO_SPEECH', description: 'Gemini 3.8 Flash TTS.' },
    { id: 'gemini-3.1-flash-image', type: 'IMAGE', description: 'Gemini 3.1 Flash Image.' },
    { id: 'gemini-3.5-transcribe', type: 'AUDIO_TRANSCRIPTION', description: 'Gemini 3.5 Transcribe.' },
    { id: 'gemini-embedding-001', type: 'EMBEDDING', description: 'Gemini Embedding.' },
  ])
  for await (const _ of await theirs.models.list({ config: { pageSize: 1000 } }));
  const paths = server.asked.splice(0).map(({ path }) => new URL(path, 'http://x'))
  t.equal(paths.length, 4)
  for (const at of [0, 1]) {
    t.equal(paths[at]!.pathname, paths[at + 2]!.pathname)
    t.same([...paths[at]!.searchParams].sort(), [...paths[at + 2]!.searchParams].sort())
  }

  const { vectors, usage } = await ours.embed!(
    { model: 'gemini-embedding-001', texts: ['a', 'b'], dimensions: 3 },
    never,
  )
  t.same(numbersOf(vectors), recordedVectors)
  t.same(usage, { input: 8, output: 0 })
  await theirs.models.embedContent({
    model: 'gemini-embedding-001',
    contents: ['a', 'b'],
    config: { outputDimensionality: 3 },
  })
  compare(t, server, headers)

  const speech = await ours.speak!({ model: 'gemini-2.5-flash-preview-tts', text: 'Hi', voice: 'Puck' }, never)
  t.equal(speech.mime, 'audio/wav')
  t.equal(Buffer.from(speech.bytes).toString('latin1', 0, 4), 'RIFF')
  t.equal(Buffer.from(speech.bytes).readUInt32LE(24), 24_000)
  t.same([...speech.bytes.subarray(44)], [1, 0, 2, 0, 3, 0, 4, 0])
  const voiceConfig = { prebuiltVoiceConfig: { voiceName: 'Puck' } }
  await theirs.models.generateContent({
    model: 'gemini-2.5-flash-preview-tts',
    contents: 'Hi',
    config: { responseModalities: ['AUDIO'], speechConfig: { voiceConfig } },
  })
  compare(t, server, headers)

  const images = await ours.draw!(
    { model: 'gemini-3.1-flash-image', prompt: 'A cat', size: '1792x1024', extra: { quality: 'hd' } },
    never,
  )
  t.equal(images.length, 1)
  t.equal(images[0]!.mime, 'image/png')
  t.equal(images[0]!.bytes[1], 0x50)
  await theirs.models.generateContent({
    model: 'gemini-3.1-flash-image',
    contents: 'A cat',
    config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9' } },
  })
  compare(t, server, headers)

  const bytes = new Uint8Array([1, 2, 3])
  const audio = { name: 'a.wav', mime: 'audio/wav', bytes }
  const heard = await ours.transcribe!(
    { model: 'gemini-3.5-transcribe', audio, language: 'en-US', diarize: true, granularities: ['word'] },
    never,
  )
  t.same(heard, {
    text: 'Two cafés? Three.',
    language: 'en-US',
    duration: null,
    segments: [
      { text: 'Two cafés?', start: 0.08, end: 1.12, speaker: 0 },
      { text: 'Three.', start: 1.5, end: 1.9, speaker: 1 },
    ],
    words: [
      { text: 'Two', start: 0.08, end: 0.4, speaker: 0 },
      { text: 'cafés?', start: 0.4, end: 1.12, speaker: 0 },
      { text: 'Three.', start: 1.5, end: 1.9, speaker: 1 },
    ],
    ignored: [],
  })
  await theirs.models.generateContent({
    model: 'gemini-3.5-transcribe',
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/wav', data: 'AQID' } }] }],
    config: { audioTranscriptionConfig: { languageCodes: ['en-US'], wordTimestamp: true, diarization: true } },
  })
  compare(t, server, headers)
})

t.test('vectors that Gemini does not count are told by a guess, which is marked', async (t) => {
  let counted: object = {}
  const server = await backend(t, ({ body }) => {
    const { requests } = JSON.parse(body.toString()) as { readonly requests: readonly object[] }
    return { headers: json, body: JSON.stringify({ embeddings: requests.map(() => ({ values: [0, 1] })), ...counted }) }
  })
  const upstreams = [use(gemini, { apiKey: 'k', baseUrl: server.url }, 'house')]
  const models = { vectors: { type: 'EMBEDDING' as const, upstreams: [{ provider: 'house' }] } }
  const gateway = await running(t, { ...memory({ network: true }), upstreams }, { models })
  const input = 'Twelve letters and some more of them'
  const nulls = { encoding_format: null, dimensions: null, user: null }
  const ask = async () => {
    const answer = await gateway.call('POST', '/v1/embeddings', { model: 'vectors', input, ...nulls })
    return (await answer.json()) as { readonly data: unknown; readonly usage: unknown }
  }
  const { data, usage } = await ask()
  t.match(data, [{ embedding: [0, 1] }], 'null counts as absent')
  t.same(usage, { prompt_tokens: tokensOf(input), total_tokens: tokensOf(input), estimated: true })
  t.notMatch(JSON.stringify(bodyOf(server.asked[0]!)), 'outputDimensionality')
  const ranking = { model: 'vectors', query: input, documents: ['One', 'Another one'] }
  const ranked = (await (await gateway.call('POST', '/v1/rerank', ranking)).json()) as { readonly usage: unknown }
  const read = tokensOf(input) + tokensOf('One') + tokensOf('Another one')
  t.same(ranked.usage, { prompt_tokens: read, total_tokens: read, estimated: true })
  counted = { usageMetadata: { promptTokenCount: 5 } }
  t.same((await ask()).usage, { prompt_tokens: 5, total_tokens: 5 })
})

/** What it asks, and what it makes of the given answer. */
const exchange = async (t: Parameters<typeof provided>[0], take: Take) => {
  const server = await backend(t, () => take)
  const upstream = await provided(t, gemini, { apiKey: 'k', baseUrl: server.url })
  const chat = async (body: object = {}, stream = false) =>
    whole(await upstream.chat!({ model: 'gemini-2.5-flash', stream, body: { messages, ...body } }, never))
  return { upstream, server, chat, asked: () => bodyOf(server.asked.at(-1)!) }
}

const said = (...candidates: object[]) => JSON.stringify({ candidates, responseId: 'r', modelVersion: 'm' })

t.test('sound of a prompt and of an answer is counted apart, but for what a cache held', async (t) => {
  const told = {
    promptTokenCount: 110,
    candidatesTokenCount: 30,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }, { modality: 'AUDIO', tokenCount: 100 }, null],
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
  }
  const cacheTokensDetails = [{ modality: 'AUDIO', tokenCount: 60 }, { modality: 'TEXT' }]
  const candidates = [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }]
  const plain = { input: 110, output: 30, audioOutput: 20 }
  for (const [usageMetadata, used] of [
    [told, { ...plain, audioInput: 100 }],
    [
      { ...told, cachedContentTokenCount: 60, cacheTokensDetails },
      { ...plain, cached: 60, audioInput: 40 },
    ],
    [
      { ...told, cachedContentTokenCount: 70 },
      { ...plain, cached: 70, audioInput: 40 },
    ],
    [
      { ...told, promptTokensDetails: 'none', candidatesTokensDetails: undefined },
      { input: 110, output: 30 },
    ],
  ] as const) {
    const text = JSON.stringify({ candidates, usageMetadata })
    const entire = await exchange(t, { headers: json, body: text })
    t.same(usageOf((await entire.chat()).usage), used)
    const streamed = await exchange(t, { headers: { 'content-type': eventStream.type }, body: `data: ${text}\n\n` })
    t.same(usageOf((await streamed.chat({}, true)).usage), used)
  }
})

t.test('each reason of the vendor becomes a reason of the common format', async (t) => {
  for (const [theirs, ours] of [
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
  ] as const) {
    const body = said({ content: { parts: [{ text: 'x' }] }, finishReason: theirs })
    for (const stream of [false, true]) {
      const take = stream ? { headers: sse, body: `data: ${body}\r\n\r\n` } : { headers: json, body }
      const { chat } = await exchange(t, take)
      t.equal((await chat({}, stream)).choices[0]!.finish_reason, ours)
    }
  }
  for (const reason of ['MALFORMED_FUNCTION_CALL', 'OTHER', undefined]) {
    const body = said({ content: { parts: [{ text: 'x' }] }, finishReason: reason })
    for (const stream of [false, true]) {
      const take = stream ? { headers: sse, body: `data: ${body}\r\n\r\n` } : { headers: json, body }
      const { chat } = await exchange(t, take)
      const fault = { name: 'UpstreamFailed', again: true, backendWorks: reason !== undefined }
      await t.rejects(chat({}, stream), fault, String(reason))
    }
  }
  const blocked = await vector('gemini/blocked.json')
  for (const stream of [false, true]) {
    const body = JSON.stringify(JSON.parse(blocked.toString()))
    const take = stream ? { headers: sse, body: `data: ${body}\n\n` } : { headers: json, body }
    const { choices, usage } = await (await exchange(t, take)).chat({}, stream)
    t.equal(choices[0]!.finish_reason, 'content_filter')
    t.equal(choices[0]!['native_finish_reason'], 'PROHIBITED_CONTENT')
    t.equal(usage!.prompt_tokens, 7)
  }
  const second = (index: number, finishReason?: string) => ({
    index,
    content: { parts: [{ text: `${index}` }] },
    finishReason,
  })
  const first = `data: ${said(second(0), second(1))}\n\ndata: ${said(second(0, 'STOP'))}\n\n`
  const half = await exchange(t, { headers: sse, body: first })
  await t.rejects(half.chat({ n: 2 }, true), UpstreamFailed, 'one candidate is not done')
  const both = await exchange(t, { headers: sse, body: `${first}data: ${said(second(1, 'STOP'))}\n\n` })
  const { choices } = await both.chat({ n: 2 }, true)
  t.same(
    choices.map(({ message }) => message.content),
    ['00', '11'],
  )
})

t.test('images, code and calls without an id have the common format', async (t) => {
  const parts = [
    { text: 'Look:' },
    { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    { executableCode: { language: 'PYTHON', code: '1' } },
    { functionCall: { name: 'f' } },
  ]
  const body = said({ content: { parts }, finishReason: 'STOP', index: 0 })
  const found = []
  for (const take of [
    { headers: json, body },
    { headers: sse, body: `data: ${body}\n\n` },
  ]) {
    const { choices } = await (await exchange(t, take)).chat({}, take.headers === sse)
    const { tool_calls, ...message } = choices[0]!.message
    t.match(tool_calls![0]!.id, /^call_[0-9a-f]{24}$/)
    t.equal(tool_calls![0]!.function.arguments, '{}')
    t.equal(choices[0]!.finish_reason, 'tool_calls')
    found.push(message)
  }
  t.same(found[0], found[1])
  t.same(found[0]!['images'], [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }])
  t.same(found[0]!['parts'], [parts[2]])
})

/** A stream of parts, each in an event of its own. */
const inPieces = (parts: readonly object[]): string =>
  parts
    .map((part) => said({ content: { parts: [part] } }))
    .concat(said({ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }))
    .map((body) => `data: ${body}\n\n`)
    .join('')

const piece = (jsonPath: string, value: object, willContinue = true) => ({
  functionCall: { partialArgs: [{ jsonPath, ...value }], ...(willContinue && { willContinue }) },
})

t.test('a call whose arguments come in pieces is a whole one', async (t) => {
  const body = inPieces([
    { functionCall: { name: 'now' }, thoughtSignature: 'c2ln' },
    { functionCall: { name: 'cook', willContinue: true } },
    piece('$.dishes[0].name', { stringValue: 'Lasa', willContinue: true }),
    piece('$.dishes[0].name', { stringValue: 'gna' }),
    piece("$.dishes[0]['for two']", { boolValue: true }),
    { functionCall: { willContinue: true } },
    piece('$.dishes[1].name', { stringValue: '' }),
    piece('$.__proto__.cost', { numberValue: 0.5 }),
    piece('$.note', { nullValue: 'NULL_VALUE' }),
    { functionCall: {} },
    { functionCall: {} },
    { functionCall: { name: 'serve', willContinue: true } },
    piece('$.at', { stringValue: 'eight' }, false),
    { functionCall: { name: 'wash', willContinue: true } },
  ])
  const { choices } = await (await exchange(t, { headers: sse, body })).chat({}, true)
  t.same(
    choices[0]!.message.tool_calls!.map(({ function: { name, arguments: json } }) => `${name} ${json}`),
    [
      'now {}',
      'cook {"dishes":[{"name":"Lasagna","for two":true},{"name":""}],"__proto__":{"cost":0.5},"note":null}',
      'serve {"at":"eight"}',
      'wash {}',
    ],
  )
  t.equal(choices[0]!.finish_reason, 'tool_calls')
  for (const path of ['$.a[9]', '$', 'a', '$.a..b', '$[0]', 7]) {
    const wrong = inPieces([
      { functionCall: { name: 'f', willContinue: true } },
      piece(path as string, { numberValue: 1 }),
    ])
    const answer = await exchange(t, { headers: sse, body: wrong })
    await t.rejects(answer.chat({}, true), UpstreamFailed, `no place: ${path}`)
  }
})

t.test('faults of the backend become errors of the gateway', async (t) => {
  const key = await exchange(t, { status: 400, headers: json, body: await vector('gemini/error-key.json') })
  await t.rejects(key.chat(), new UpstreamFailed(undefined, { again: true, answered: 400 }), 'our key')
  const limited = await exchange(t, { status: 429, headers: json, body: await vector('gemini/error-429.json') })
  const expected = new UpstreamFailed(undefined, { again: true, answered: 429, retryAfter: 7000 })
  await t.rejects(limited.chat(), expected, 'they tell in the body when to come back')
  const prefixed = limited.upstream.chat!({ model: 'm', stream: true, body: { messages }, prefix: 'x' }, never)
  await t.rejects(prefixed, new UpstreamFailed(undefined, { again: true }))
})

t.test('many texts and images take several requests', async (t) => {
  const server = await backend(t, ({ path, body }) => {
    const { requests } = JSON.parse(body.toString())
    if (path.includes('Embed')) {
      return {
        headers: json,
        body: JSON.stringify({
          embeddings: requests.map((pair: any) => ({ values: [Number(pair.content.parts[0].text)] })),
        }),
      }
    }
    return {
      headers: json,
      body: said({
        content: { parts: [{ inlineData: { mimeType: 'image/jpeg', data: '/9j/' } }] },
        finishReason: 'STOP',
      }),
    }
  })
  const upstream = await provided(t, gemini, { apiKey: 'k', baseUrl: server.url })
  const texts = Array.from({ length: 230 }, (_, at) => String(at))
  const { vectors } = await upstream.embed!({ model: 'e', texts }, never)
  t.equal(server.asked.length, 3)
  t.same(
    vectors.map(([value]) => value),
    texts.map(Number),
  )
  const images = await upstream.draw!({ model: 'i', prompt: 'A cat', count: 3, size: 'auto' }, never)
  t.same(
    images.map(({ mime }) => mime),
    ['image/jpeg', 'image/jpeg', 'image/jpeg'],
  )
})

t.test('answers contain images and sound', async (t) => {
  const filtered = await exchange(t, { headers: json, body: await vector('gemini/image-filtered.json') })
  await t.rejects(filtered.upstream.draw!({ model: 'i', prompt: 'x' }, never), BadRequest)
  const text = await exchange(t, {
    headers: json,
    body: said({ content: { parts: [{ text: 'No.' }] }, finishReason: 'STOP' }),
  })
  await t.rejects(text.upstream.draw!({ model: 'i', prompt: 'x' }, never), UpstreamFailed)
  await t.rejects(text.upstream.speak!({ model: 's', text: 'x' }, never), UpstreamFailed)
  await t.rejects(text.upstream.speak!({ model: 's', text: 'x', format: 'mp3' }, never), BadRequest)
  await t.rejects(text.upstream.speak!({ model: 's', text: 'x', speed: 2 }, never), BadRequest)

  const raw = await exchange(t, { headers: json, body: await vector('gemini/speech.json') })
  const call = { model: 's', text: 'x' }
  const samples = [1, 0, 2, 0, 3, 0, 4, 0]
  t.same([...(await raw.upstream.speak!({ ...call, format: 'pcm' }, never)).bytes], samples)
  t.equal(raw.asked().generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName, 'Kore')
  const wav = await raw.upstream.speak!({ ...call, format: 'wav' }, never)
  const inside = { inlineData: { mimeType: 'audio/wav', data: Buffer.from(wav.bytes).toString('base64') } }
  const file = await exchange(t, { headers: json, body: said({ content: { parts: [inside] }, finishReason: 'STOP' }) })
  t.same(await file.upstream.speak!(call, never), wav, 'a newer model gives a file')
  t.same([...(await file.upstream.speak!({ ...call, format: 'pcm' }, never)).bytes], samples)
})

t.test('every model transcribes', async (t) => {
  const { upstream, asked } = await exchange(t, { headers: json, body: await vector('gemini/transcript.json') })
  const audio = { name: 'a.mp3', mime: 'audio/mp3', bytes: new Uint8Array([1, 2, 3]) }
  const call: TranscribeCall = { model: 'gemini-3.8-flash', audio, translate: true, diarize: true, prompt: 'Zoë' }
  t.same(await upstream.transcribe!(call, never), {
    text: 'Two cafés? Three.',
    language: 'en',
    duration: null,
    segments: [
      { text: 'Two cafés?', start: 0.08, end: 1.12, speaker: 0 },
      { text: 'Three.', start: 1.5, end: 1.9, speaker: 1 },
    ],
    words: [],
    ignored: [],
  })
  const [text, sound] = asked().contents[0].parts
  t.match(text.text, /translated into English.*speakers apart.*Zoë/)
  t.same(sound, { inlineData: { mimeType: 'audio/mp3', data: 'AQID' } })
  await t.rejects(upstream.transcribe!({ ...call, model: 'gemini-3.5-transcribe' }, never), BadRequest)
})

t.test('a request beyond the vendor’s format is the caller’s mistake', async (t) => {
  const { chat } = await exchange(t, { status: 500, body: '' })
  const wrong: object[] = [
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }] },
    { messages: [{ role: 'user', content: [{ type: 'thing', thing: 1 }] }] },
    { messages: [{ role: 'function', name: 'f', content: '1' }] },
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: 'x' } }] },
      ],
    },
  ]
  for (const body of wrong) await t.rejects(chat(body), BadRequest)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(gemini, {}), /apiKey/)
})
