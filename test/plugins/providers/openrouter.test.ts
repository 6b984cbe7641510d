import { OpenRouter } from '@openrouter/sdk'
import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import { collectChunks } from '../../../core/inference/collect-chunks.ts'
import type { Message } from '../../../core/ports/upstream.ts'
import openai from '../../../plugins/providers/openai.ts'
import openrouter from '../../../plugins/providers/openrouter.ts'
import type { MoreAbilities } from '../../../plugins/shared/more-abilities.ts'
import { decideCall, decides, systemOneAnswer } from '../../fakes/deciding.ts'
import type { Asked } from '../../fakes/recorded.ts'
import { backend, eventStream, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { compare, completed, json, never, numbersOf, recordedVectors } from '../../fakes/vendor.ts'
import { failed } from '../../helpers.ts'
import { keepsContracts, throwsWhenCut } from './contract.ts'

const recording: Recording = {
  provider: openrouter,
  settings: (url) => ({ apiKey: 'sk-or-1', baseUrl: `${url}/api/v1` }),
  model: 'deepseek/deepseek-r1',
  vectors: 'openrouter',
  stream: eventStream,
  lists: /^\/api\/v1\/models$/,
  chats: /^\/api\/v1\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a stream without its end mark throws, wherever it ends', (t) => throwsWhenCut(t, recording))

t.test('thoughts, cost and provider reach the caller, streamed or not', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const { choices, usage, ...rest } = await completed(stage.upstream, {
      model: 'm',
      stream,
      body: { messages: [{ role: 'user', content: 'x' }] },
    })
    const thought = 'We count them.'
    const { message, native_finish_reason } = choices[0]! as { message: Message; native_finish_reason?: string }
    t.equal(message['reasoning'], thought)
    t.equal(message['reasoning_content'], thought, 'under the name that callers look for')
    t.same(message['reasoning_details'], [{ type: 'reasoning.text', text: thought, format: 'unknown', index: 0 }])
    t.equal(native_finish_reason, 'stop')
    t.equal(usage!['cost'], 0.0000412)
    t.equal(rest['provider'], 'DeepInfra')
  }
})

t.test('an error inside a 200 becomes an error of the gateway', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('openrouter/error-in-200.json') }))
  const upstream = await provided(t, openrouter, recording.settings(server.url))
  for (const stream of [false, true]) {
    const work = upstream.chat!({ model: 'm', stream, body: { messages: [{ role: 'user', content: 'x' }] } }, never)
    t.match(await failed(work), { constructor: UpstreamFailed, again: true, answered: 502 })
  }
})

t.test('models and embeddings have the common format', async (t) => {
  const server = await backend(t, async ({ path }) => ({
    headers: json,
    body: await vector(`openrouter/${path.endsWith('models') ? 'models' : 'embeddings'}.json`),
  }))
  const upstream = await provided(t, openrouter, recording.settings(server.url))
  t.same(await upstream.models(never), [
    { id: 'deepseek/deepseek-r1', type: 'CHAT', description: 'An open reasoning model.', modalities: ['text'] },
    { id: 'openai/text-embedding-3-small', type: 'EMBEDDING', description: 'Embeds.', modalities: ['text'] },
  ])
  const { vectors, usage } = await upstream.embed!({ model: 'm', texts: ['a', 'b'] }, never)
  t.same(numbersOf(vectors), recordedVectors)
  t.same(usage, { input: 8, output: 0 })
})

t.test('requests equal those of the vendor’s own client', async (t) => {
  const server = await backend(t, async ({ body }) =>
    body.includes('"stream":true')
      ? { headers: { 'content-type': 'text/event-stream' }, body: await vector('openrouter/chat.sse') }
      : { headers: json, body: await vector('openrouter/chat.json') },
  )
  const settings = {
    ...recording.settings(server.url),
    referer: 'https://example.org',
    title: 'Example',
    routing: { order: ['DeepInfra'], allow_fallbacks: false },
  }
  const ours = await provided(t, openrouter, settings)
  const theirs = new OpenRouter({
    apiKey: 'sk-or-1',
    serverURL: `${server.url}/api/v1`,
    httpReferer: 'https://example.org',
    appTitle: 'Example',
  })
  const messages = [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ],
    },
  ] as const
  const told = [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', imageUrl: { url: 'data:image/png;base64,AA==' } },
      ],
    },
  ]
  const provider = { order: ['DeepInfra'], allowFallbacks: false }
  for (const stream of [false, true]) {
    const answer = await ours.chat!(
      {
        model: 'deepseek/deepseek-r1',
        stream,
        body: { messages, temperature: 0.5, max_tokens: 9, reasoning: { effort: 'low' } },
      },
      never,
    )
    if (answer.kind === 'chunks') await collectChunks(answer.chunks)
    const chatRequest = {
      model: 'deepseek/deepseek-r1',
      messages: told,
      temperature: 0.5,
      maxTokens: 9,
      reasoning: { effort: 'low' },
      provider,
      stream,
      ...(stream && { streamOptions: { includeUsage: true } }),
    }
    const result: any = await theirs.chat.send({ chatRequest } as never)
    if (stream) for await (const _ of result);
    const [one, other] = server.asked.splice(0) as [Asked, Asked]
    t.equal(one.path, other.path)
    for (const name of ['authorization', 'http-referer', 'x-openrouter-title'])
      t.equal(one.headers[name], other.headers[name], name)
    const { stream: streams, ...asked } = JSON.parse(other.body.toString())
    t.equal(streams, stream)
    t.same(JSON.parse(one.body.toString()), stream ? { ...asked, stream: true } : asked)
  }
})

t.test('an error inside a 200 keeps its meaning for vectors, images, transcripts and ranks', async (t) => {
  let error: object = {}
  const server = await backend(t, () => ({ headers: json, body: JSON.stringify({ error }) }))
  const upstream = await provided(t, openrouter, recording.settings(server.url))
  const vendor = await provided(t, openai, { baseUrl: server.url })
  const calls: readonly (() => Promise<unknown>)[] = [
    () => upstream.embed!({ model: 'm', texts: ['a'] }, never),
    () => vendor.draw!({ model: 'm', prompt: 'a', count: 1 }, never),
    () =>
      vendor.transcribe!({ model: 'm', audio: { name: 'a.wav', mime: 'audio/wav', bytes: Buffer.from('R') } }, never),
    () => (upstream as MoreAbilities).rerank!({ model: 'm', query: 'a', documents: ['b'] } as never, never),
  ]
  for (const call of calls) {
    error = { code: 400, message: "This model's maximum context length is 8192 tokens" }
    t.match(await failed(call()), { constructor: BadRequest, code: 'context_length_exceeded' })
    error = { code: 402, message: 'Insufficient credits' }
    t.match(await failed(call()), { constructor: UpstreamFailed, answered: 402, code: 'insufficient_quota' })
    error = { code: 429, message: 'Rate limit exceeded' }
    t.match(await failed(call()), { constructor: UpstreamFailed, again: true, answered: 429 })
  }
})

const deciding = (url: string) => ({ ...recording.settings(url), decisions: true })

t.test('decisions travel in the vendor’s form', (t) =>
  decides(t, { provider: openrouter, settings: deciding, path: '/api/v1/systemone', answer: systemOneAnswer }),
)

t.test('requests for decisions equal those of the vendor’s own client', async (t) => {
  const decides = { output_modalities: ['decisions'], input_modalities: ['text'] }
  const talks = JSON.parse((await vector('openrouter/models.json')).toString())
  const listed = { data: [...talks.data, { id: 'typesafe/jev-1.14', description: 'Decides.', architecture: decides }] }
  const server = await backend(t, async ({ path, body }) => ({
    headers: json,
    body: path.endsWith('models') ? JSON.stringify(listed) : systemOneAnswer(body.toString()),
  }))
  const routing = { order: ['TypeSafe'], allow_fallbacks: false }
  const ours = await provided(t, openrouter, { ...deciding(server.url), routing })
  t.notOk(ours.chat || ours.embed, 'it does nothing else')
  const models = [{ id: 'typesafe/jev-1.14', type: 'DECISION', description: 'Decides.' }]
  t.same(await ours.models(never), models, 'nor lists anything else')
  server.asked.splice(0)
  await ours.decide!(
    decideCall('typesafe/jev-1.14', {
      state: 'A state.',
      questions: [
        {
          type: 'choice',
          instructions: 'Which?',
          options: [
            { label: 'b', description: null },
            { label: 'a', description: ['x'] },
          ],
        },
        { type: 'noul', instructions: null, yes: 'It is', no: null },
        { type: 'score', instructions: { ask: 1 } as never, levels: ['low', null] },
      ],
    }),
    never,
  )
  const theirs = new OpenRouter({ apiKey: 'sk-or-1', serverURL: `${server.url}/api/v1` })
  const decisionsRequest = {
    model: 'typesafe/jev-1.14',
    state: 'A state.',
    questions: {
      q1: { type: 'choice', instructions: 'Which?', criteria: { b: null, a: ['x'] } },
      q2: { type: 'noul', instructions: '', criteria: { true: 'It is', false: '' } },
      q3: { type: 'score', instructions: { ask: 1 }, criteria: ['low', '1'] },
    },
    provider: { order: ['TypeSafe'], allowFallbacks: false },
  } as const
  await theirs.systemOne.create({ decisionsRequest } as never)
  compare(t, server)
  const images = ['data:image/png;base64,AAEC']
  await ours.decide!(decideCall('m', { state: 5, images }), never)
  const { state, images: beside } = JSON.parse(server.asked[0]!.body.toString())
  t.same(state, [{ type: 'image_url', image_url: { url: images[0] } }, '5'], 'images go into the state')
  t.equal(beside, undefined)
})
