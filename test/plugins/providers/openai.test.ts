import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, { AzureOpenAI, toFile } from 'openai'
import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import { fold } from '../../../core/inference/fold.ts'
import { use } from '../../../core/plugin.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'
import openai from '../../../plugins/providers/openai.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import type { Asked } from '../../fakes/recorded.ts'
import { backend, eventStream, everyCut, provided, staged, vector, type Recording } from '../../fakes/stage.ts'

const recording: Recording = {
  provider: openai,
  settings: (url) => ({ apiKey: 'sk-1', baseUrl: `${url}/v1` }),
  model: 'gpt-4o',
  vectors: 'openai',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
}

const signal = new AbortController().signal
const json = { 'content-type': 'application/json' }

/** Every field of a form; files by their bytes. Boundaries and the order of fields differ between clients. */
const fieldsOf = async ({ headers, body }: Asked) => {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type']! },
  }).formData()
  const fields: [string, unknown][] = []
  for (const [name, value] of form) {
    fields.push([name, typeof value === 'string' ? value : [value.name, value.type, await value.text()]])
  }
  return fields.sort(([a], [b]) => (a < b ? -1 : 1))
}

t.test('contract', (t) => conform(t, upstream.contract, (t) => staged(t, recording)))

t.test('a stream that ends anywhere before its end mark throws', async (t) => {
  const { bytes, fooled } = await everyCut(t, recording)
  const mark = 'data: [DONE]\n\n'.length
  t.ok(bytes > 2000)
  t.same(fooled, [bytes], `only the whole ${bytes} bytes pass, ${mark} of them the mark`)
})

t.test('asks as the vendor’s own client does', async (t) => {
  const server = await backend(t, async ({ path, body }) => {
    const name = /models$/.test(path)
      ? 'models'
      : /embeddings$/.test(path)
        ? 'embeddings'
        : /generations$/.test(path)
          ? 'images'
          : /transl|transc/.test(path)
            ? 'transcription'
            : 'chat'
    if (/speech$/.test(path)) return { headers: { 'content-type': 'audio/mpeg' }, body: 'mp3' }
    if (body.includes('"stream":true'))
      return { headers: { 'content-type': 'text/event-stream' }, body: await vector('openai/chat.sse') }
    return { headers: json, body: await vector(`openai/${name}.json`) }
  })
  const settings = { apiKey: 'sk-1', baseUrl: `${server.url}/v1/`, organization: 'org-1', project: 'proj-1' }
  const ours = await provided(t, openai, settings)
  const theirs = new OpenAI({
    apiKey: 'sk-1',
    baseURL: `${server.url}/v1`,
    organization: 'org-1',
    project: 'proj-1',
    maxRetries: 0,
  })

  /** The last two requests: same place, same body, same names. */
  const compared = async (
    work: () => Promise<unknown>,
    again: () => Promise<unknown>,
    read = async ({ body }: Asked): Promise<unknown> => (body.length ? JSON.parse(body.toString()) : null),
  ) => {
    await work()
    await again()
    const [one, other] = server.asked.splice(0) as [Asked, Asked]
    t.equal(one.method, other.method)
    t.equal(one.path, other.path)
    for (const name of ['authorization', 'openai-organization', 'openai-project'])
      t.equal(one.headers[name], other.headers[name], name)
    t.equal(one.headers['content-type']?.split(';')[0], other.headers['content-type']?.split(';')[0])
    t.same(await read(one), await read(other), one.path)
  }

  const body = {
    messages: [
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'auto',
    response_format: { type: 'json_object' },
    logprobs: true,
    top_logprobs: 2,
    reasoning_effort: 'low',
    max_completion_tokens: 9,
    n: 1,
  } as const
  const asBody = body as unknown as ChatBody
  await compared(
    () => ours.chat!({ model: 'gpt-4o', stream: false, body: asBody }, signal),
    () => theirs.chat.completions.create({ model: 'gpt-4o', ...structuredClone(body) } as never),
  )
  await compared(
    async () => {
      const answer = await ours.chat!(
        { model: 'gpt-4o', stream: true, body: { ...asBody, stream_options: { include_obfuscation: false } } },
        signal,
      )
      if (answer.kind === 'chunks') await fold(answer.chunks)
    },
    async () => {
      const options = { include_obfuscation: false, include_usage: true }
      const stream: any = await theirs.chat.completions.create({
        model: 'gpt-4o',
        stream: true,
        ...structuredClone(body),
        stream_options: options,
      } as never)
      for await (const _ of stream);
    },
  )
  await compared(
    () => ours.models(signal),
    () => Promise.resolve(theirs.models.list()),
  )
  await compared(
    () => ours.embed!({ model: 'text-embedding-3-small', texts: ['a', 'b'], dimensions: 3 }, signal),
    () =>
      Promise.resolve(theirs.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 3 })),
  )
  await compared(
    () => ours.speak!({ model: 'gpt-4o-mini-tts', text: 'Hi', format: 'wav', speed: 1.5 }, signal),
    () =>
      Promise.resolve(
        theirs.audio.speech.create({
          model: 'gpt-4o-mini-tts',
          input: 'Hi',
          voice: 'alloy',
          response_format: 'wav',
          speed: 1.5,
        }),
      ),
  )
  await compared(
    () =>
      ours.draw!(
        { model: 'gpt-image-1', prompt: 'A cat', count: 1, size: '1024x1024', extra: { quality: 'high' } },
        signal,
      ),
    () =>
      Promise.resolve(
        theirs.images.generate({ model: 'gpt-image-1', prompt: 'A cat', n: 1, size: '1024x1024', quality: 'high' }),
      ),
  )
  await compared(
    () => ours.draw!({ model: 'dall-e-3', prompt: 'A cat' }, signal),
    () => Promise.resolve(theirs.images.generate({ model: 'dall-e-3', prompt: 'A cat', response_format: 'b64_json' })),
  )
  const bytes = new TextEncoder().encode('RIFF form-boundary-0\r\n--')
  const audio = { name: 'a.wav', mime: 'audio/wav', bytes }
  const file = () => toFile(bytes, 'a.wav', { type: 'audio/wav' })
  await compared(
    () =>
      ours.transcribe!(
        { model: 'whisper-1', audio, language: 'en', prompt: 'Names: Zoë', granularities: ['word', 'segment'] },
        signal,
      ),
    async () =>
      theirs.audio.transcriptions.create({
        model: 'whisper-1',
        file: await file(),
        language: 'en',
        prompt: 'Names: Zoë',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      }),
    fieldsOf,
  )
  await compared(
    () => ours.transcribe!({ model: 'whisper-1', audio, translate: true, language: 'de' }, signal),
    async () =>
      theirs.audio.translations.create({ model: 'whisper-1', file: await file(), response_format: 'verbose_json' }),
    fieldsOf,
  )
  await compared(
    () => ours.transcribe!({ model: 'gpt-4o-transcribe-diarize', audio, diarize: true }, signal),
    async () =>
      theirs.audio.transcriptions.create({
        model: 'gpt-4o-transcribe-diarize',
        file: await file(),
        response_format: 'diarized_json',
        chunking_strategy: 'auto',
      }),
    fieldsOf,
  )
})

t.test('reads what is not chat', async (t) => {
  let diarized = false
  const image = Buffer.from('/9j/', 'base64')
  const server = await backend(t, async ({ path }) => {
    if (/image\.jpg$/.test(path)) return { body: image }
    if (/speech$/.test(path)) return { headers: { 'content-type': 'audio/wav' }, body: 'RIFF' }
    const name = /embeddings$/.test(path)
      ? 'embeddings'
      : /generations$/.test(path)
        ? 'images'
        : /models$/.test(path)
          ? 'models'
          : diarized
            ? 'diarized'
            : 'transcription'
    return { headers: json, body: await vector(`openai/${name}.json`) }
  })
  const it = await provided(t, openai, { baseUrl: server.url, types: { 'gpt-4o': 'DECISION' } })
  t.same(
    (await it.models(signal)).map(({ id, type }) => [id, type]),
    [
      ['gpt-4o', 'DECISION'],
      ['text-embedding-3-small', 'EMBEDDING'],
      ['whisper-1', 'AUDIO_TRANSCRIPTION'],
      ['gpt-4o-mini-tts', 'AUDIO_SPEECH'],
      ['gpt-image-1', 'IMAGE'],
    ],
  )
  t.equal(server.asked[0]!.headers.authorization, undefined)
  const { vectors, usage } = await it.embed!({ model: 'm', texts: ['a', 'b'] }, signal)
  t.same(
    vectors.map((one) => [...one]),
    [
      [0.25, -0.5, 0.125],
      [1, 2, -3],
    ],
  )
  t.same(usage, { input: 8, output: 0 })
  await t.rejects(it.embed!({ model: 'm', texts: ['a'] }, signal), UpstreamFailed)
  const [drawn] = await it.draw!({ model: 'm', prompt: 'x' }, signal)
  t.equal(drawn!.mime, 'image/png')
  t.equal(Buffer.from(drawn!.bytes).toString('latin1', 1, 4), 'PNG')
  t.match(await it.speak!({ model: 'm', text: 'x' }, signal), { mime: 'audio/wav', bytes: Buffer.from('RIFF') })
  const audio = { name: 'a"\r\nb.wav', mime: 'audio/wav', bytes: new Uint8Array(3) }
  const words = [
    { text: 'Hello', start: 0, end: 0.6 },
    { text: 'there', start: 0.7, end: 1.1 },
  ]
  t.same(await it.transcribe!({ model: 'whisper-1', audio }, signal), {
    text: 'Hello there.',
    language: 'english',
    duration: 2.5,
    segments: [{ text: ' Hello there.', start: 0, end: 2.5 }],
    words,
  })
  t.match(server.asked.at(-1)!.body.toString('latin1'), 'filename="a%22%0D%0Ab.wav"')
  diarized = true
  const { segments } = await it.transcribe!({ model: 'gpt-4o-transcribe-diarize', audio, diarize: true }, signal)
  t.same(
    segments.map(({ speaker }) => speaker),
    [0, 1],
  )
})

t.test('on Azure', async (t) => {
  const azure: Recording = {
    ...recording,
    settings: (url) => ({
      apiKey: 'key-1',
      baseUrl: url,
      azure: { apiVersion: '2024-10-21' },
      types: { mine: 'CHAT' },
    }),
    model: 'mine',
    vectors: 'azure',
    lists: /^\/openai\/models\?api-version=2024-10-21$/,
    chats: /^\/openai\/deployments\/mine\/chat\/completions\?api-version=2024-10-21$/,
  }
  const skip = 'errors and tools are those of the other surface'
  await conform(t, upstream.contract, (t) => staged(t, azure), {
    'calls tools in a stream as in one piece': skip,
    'too many requests: again, and when': skip,
    'its own failures and our credentials are not the caller’s fault': skip,
    'an error inside a stream throws, behind what came before': skip,
  })
  const { bytes, fooled } = await everyCut(t, azure)
  t.same(fooled, [bytes])

  const server = await backend(t, async () => ({ headers: json, body: await vector('azure/chat.json') }))
  const ours = await provided(t, openai, azure.settings(server.url))
  const theirs = new AzureOpenAI({ apiKey: 'key-1', endpoint: server.url, apiVersion: '2024-10-21', maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  await ours.chat!({ model: 'mine', stream: false, body: { messages } }, signal)
  await theirs.chat.completions.create({ model: 'mine', messages })
  const [one, other] = server.asked as [Asked, Asked]
  t.equal(one.path, other.path)
  t.equal(one.headers['api-key'], other.headers['api-key'])
  t.same(JSON.parse(one.body.toString()), JSON.parse(other.body.toString()))
})

t.test('compatible servers of other habits', async (t) => {
  const chunk = (content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
  let body = ''
  let headers: Record<string, string> = { 'content-type': 'text/event-stream' }
  let status = 200
  const server = await backend(t, () => ({ status, headers, body }))
  const run = async (settings: object, prefix?: string) => {
    const it = await provided(t, openai, { baseUrl: server.url, ...settings })
    const messages = [{ role: 'user', content: 'Hi' }]
    const answer = await it.chat!(
      { model: 'm', stream: true, body: { messages }, ...(prefix !== undefined && { prefix }) },
      signal,
    )
    return answer.kind === 'chunks' ? fold(answer.chunks) : answer.completion
  }

  body = chunk('one') + chunk(' two', 'stop')
  t.match(
    await run({ marksEnd: false }),
    { choices: [{ message: { content: 'one two' } }] },
    'no mark, but a finish reason',
  )
  await t.rejects(run({}), UpstreamFailed, 'no mark where there should be one')
  body = chunk('one')
  await t.rejects(run({ marksEnd: false }), UpstreamFailed, 'neither')
  body = ''
  await t.rejects(run({ marksEnd: false }), UpstreamFailed, 'nothing at all')

  body = `${chunk('x', 'stop')}data: [DONE]\n\n`
  await t.rejects(run({}, 'so far'), UpstreamFailed, 'cannot go on')
  await run({ continuation: { prefill: true } }, 'so far')
  t.match(JSON.parse(server.asked.at(-1)!.body.toString()), {
    prefill: true,
    messages: [{}, { role: 'assistant', content: 'so far' }],
  })

  body = (await vector('openai/chat.json')).toString()
  headers = json
  t.equal((await run({})).object, 'chat.completion', 'one that does not stream')

  headers = {}
  for (const [code, fault] of [
    [404, BadRequest],
    [413, BadRequest],
    [422, BadRequest],
    [402, UpstreamFailed],
    [408, UpstreamFailed],
    [409, UpstreamFailed],
    [302, UpstreamFailed],
    [503, UpstreamFailed],
  ] as const) {
    status = code
    await t.rejects(run({}), fault, String(code))
  }
  await t.rejects(
    run({}).catch((fault) => Promise.reject(fault.again ? fault : null)),
    UpstreamFailed,
  )
  status = 409
  t.equal(await run({}).catch((fault) => fault.again), false, 'other 4xx are not tried again')
  status = 429
  for (const [header, value, wait] of [
    ['retry-after-ms', '1500', 1500],
    ['retry-after', '2.5', 2500],
    ['retry-after', 'soon', null],
    ['x-none', '', null],
  ] as const) {
    headers = { [header]: value }
    t.equal(await run({}).catch((fault) => fault.retryAfter), wait, `${header} ${value}`)
  }
  headers = { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }
  const wait = await run({}).catch((fault) => fault.retryAfter)
  t.ok(wait > 50_000 && wait <= 60_000, 'a date')
})

t.test('a connection serves again behind the end mark, and one that stays open is closed', async (t) => {
  const body = await vector('openai/chat.sse')
  const headers = { 'content-type': 'text/event-stream' }
  for (const pace of ['whole', { stall: body.length }] as const) {
    const server = await backend(t, () => ({ headers, body, pace }))
    const it = await provided(t, openai, { baseUrl: server.url })
    const call = { model: 'm', stream: true, body: { messages: [{ role: 'user', content: 'Hi' }] } }
    for (let n = 0; n < (pace === 'whole' ? 20 : 1); n++) {
      const answer = await it.chat!(call, signal)
      if (answer.kind === 'chunks') await fold(answer.chunks)
      await sleep(10)
    }
    t.equal(await server.open(), 1, 'one connection')
    await sleep(1500)
    t.equal(await server.open(), pace === 'whole' ? 1 : 0, 'a second later')
  }
})

t.test('settings', async (t) => {
  t.throws(() => use(openai, { apiKey: 'k', apikey: 'k' }), /apikey is not a known setting/)
  t.throws(() => use(openai, { baseUrl: 'nowhere' }), /baseUrl/)
})
