import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../../core/errors.ts'
import { collectChunks } from '../../../../core/inference/collect-chunks.ts'
import openai from '../../../../plugins/providers/openai.ts'
import { backend, provided, vector } from '../../../contracts/stage.ts'
import { json, never, numbersOf, recordedVectors } from '../../../fakes/vendor.ts'

t.test('servers of other habits are understood', async (t) => {
  const chunk = (content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
  let body = ''
  let headers: Record<string, string> = { 'content-type': 'text/event-stream' }
  let status = 200
  const server = await backend(t, () => ({ status, headers, body }))
  const run = async (settings: object, prefix?: string) => {
    const upstream = await provided(t, openai, { baseUrl: server.url, ...settings })
    const messages = [{ role: 'user', content: 'Hi' }]
    const answer = await upstream.chat!(
      { model: 'm', stream: true, body: { messages }, ...(prefix !== undefined && { prefix }) },
      never,
    )
    return answer.kind === 'chunks' ? collectChunks(answer.chunks) : answer.completion
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
    [404, UpstreamFailed],
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
  status = 404
  t.equal(await run({}).catch((fault) => fault.again), true, 'a model that is not there may be elsewhere')
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

t.test('calls without numbers or kinds, answers without content and counts in odd places are mended', async (t) => {
  let body = ''
  let headers: Record<string, string> = { 'content-type': 'text/event-stream' }
  const server = await backend(t, () => ({ headers, body }))
  const upstream = await provided(t, openai, { baseUrl: server.url })
  const ask = (stream: boolean) => upstream.chat!({ model: 'm', stream, body: { messages: [] } }, never)
  const piece = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: '1', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const call = (id: string, name: string, json: string) => ({ id, function: { name, arguments: json } })
  body = [
    piece({ tool_calls: [call('a', 'look', '{}'), call('b', 'see', '{')] }),
    piece({ tool_calls: [{ function: { arguments: '"n":' } }] }),
    piece({ tool_calls: [{ id: 'b', function: { arguments: '1' } }] }),
    piece({ tool_calls: [{ function: { arguments: '}' } }] }, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join('')
  const answer = await ask(true)
  if (answer.kind !== 'chunks') return t.fail('no stream')
  const { choices } = await collectChunks(answer.chunks)
  t.match(choices[0]!.message.tool_calls, [
    { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } },
    { id: 'b', type: 'function', function: { name: 'see', arguments: '{"n":1}' } },
  ])
  headers = json
  const message = { role: 'assistant', tool_calls: [call('a', 'look', '{}')] }
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, cached_tokens: 7 }
  body = JSON.stringify({ id: '1', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })
  const whole = await ask(false)
  if (whole.kind !== 'completion') return t.fail('no completion')
  t.equal(whole.completion.choices[0]!.message.content, null)
  t.equal(whole.completion.choices[0]!.message.tool_calls![0]!.type, 'function', 'a call says its kind')
  t.match(whole.completion.usage, { prompt_tokens_details: { cached_tokens: 7 } })
  t.equal(whole.text, undefined, 'a text that was mended does not go on')
})

t.test('an operator leaves fields out, renames them and adds others', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('openai/chat.json') }))
  const request = { omit: ['seed'], rename: { max_completion_tokens: 'max_tokens' }, add: { safe: true, top_k: 3 } }
  const upstream = await provided(t, openai, { baseUrl: server.url, api: 'chat', request })
  const body = { messages: [{ role: 'user', content: 'Hi' }], seed: 1, max_completion_tokens: 9, top_k: 5 }
  await upstream.chat!({ model: 'm', stream: false, body }, never)
  const { messages, ...sent } = JSON.parse(server.asked[0]!.body.toString())
  t.same(sent, { model: 'm', max_tokens: 9, safe: true, top_k: 5 }, 'a caller’s own field stays')
  t.same(messages, body.messages)
  t.ok(upstream.unheard?.('m', body).has('seed'), 'what is left out is told')
  const newer = await provided(t, openai, { baseUrl: server.url, api: 'responses', request: { omit: ['store'] } })
  await newer.chat!({ model: 'm', stream: false, body }, never).catch(() => {})
  t.notOk('store' in JSON.parse(server.asked.at(-1)!.body.toString()), 'by Responses, too')
  for (const request of [{ omit: ['model'] }, { rename: { a: 'messages' } }, { add: { stream: true } }])
    await t.rejects(provided(t, openai, { baseUrl: server.url, request }), /a field other than/)
})

t.test('a connection serves again after the end mark, and an unfinished answer closes its connection', async (t) => {
  const body = await vector('openai/chat.sse')
  const headers = { 'content-type': 'text/event-stream' }
  for (const pace of ['whole', { stall: body.length }] as const) {
    const server = await backend(t, () => ({ headers, body, pace }))
    const upstream = await provided(t, openai, { baseUrl: server.url })
    const call = { model: 'm', stream: true, body: { messages: [{ role: 'user', content: 'Hi' }] } }
    for (let n = 0; n < (pace === 'whole' ? 20 : 1); n++) {
      const answer = await upstream.chat!(call, never)
      if (answer.kind === 'chunks') await collectChunks(answer.chunks)
      await sleep(10)
    }
    t.equal(await server.open(), 1, 'one connection')
    await sleep(1500)
    t.equal(await server.open(), pace === 'whole' ? 1 : 0, 'a second later')
  }
})

t.test('answers beyond chat are read', async (t) => {
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
  const upstream = await provided(t, openai, { baseUrl: server.url, types: { 'gpt-4o': 'DECISION' } })
  t.same(
    (await upstream.models(never)).map(({ id, type }) => [id, type]),
    [
      ['gpt-4o', 'DECISION'],
      ['text-embedding-3-small', 'EMBEDDING'],
      ['whisper-1', 'AUDIO_TRANSCRIPTION'],
      ['gpt-4o-mini-tts', 'AUDIO_SPEECH'],
      ['gpt-image-1', 'IMAGE'],
    ],
  )
  t.equal(server.asked[0]!.headers.authorization, undefined)
  const { vectors, usage } = await upstream.embed!({ model: 'm', texts: ['a', 'b'] }, never)
  t.same(numbersOf(vectors), recordedVectors)
  t.same(usage, { input: 8, output: 0 })
  await t.rejects(upstream.embed!({ model: 'm', texts: ['a'] }, never), UpstreamFailed)
  const [drawn] = await upstream.draw!({ model: 'm', prompt: 'x' }, never)
  t.equal(drawn!.mime, 'image/png')
  t.equal(Buffer.from(drawn!.bytes).toString('latin1', 1, 4), 'PNG')
  t.match(await upstream.speak!({ model: 'm', text: 'x' }, never), { mime: 'audio/wav', bytes: Buffer.from('RIFF') })
  const audio = { name: 'a"\r\nb.wav', mime: 'audio/wav', bytes: new Uint8Array(3) }
  const words = [
    { text: 'Hello', start: 0, end: 0.6 },
    { text: 'there', start: 0.7, end: 1.1 },
  ]
  t.same(await upstream.transcribe!({ model: 'whisper-1', audio }, never), {
    text: 'Hello there.',
    language: 'english',
    duration: 2.5,
    segments: [{ text: ' Hello there.', start: 0, end: 2.5 }],
    words,
    answer: JSON.parse((await vector('openai/transcription.json')).toString()),
    ignored: [],
  })
  t.match(server.asked.at(-1)!.body.toString('latin1'), 'filename="a%22%0D%0Ab.wav"')
  diarized = true
  const { segments } = await upstream.transcribe!({ model: 'gpt-4o-transcribe-diarize', audio, diarize: true }, never)
  t.same(
    segments.map(({ speaker }) => speaker),
    [0, 1],
  )
})
