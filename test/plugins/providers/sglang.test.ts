import OpenAI from 'openai'
import t from 'tap'
import { collectChunks } from '../../../core/inference/collect-chunks.ts'
import sglang from '../../../plugins/providers/sglang.ts'
import { decideCall, decides, decisionsAnswer, systemOneAnswer } from '../../fakes/deciding.ts'
import { backend, eventStream, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { asksAlike, completed, json, messages, never, numbersOf, recordedVectors } from '../../fakes/vendor.ts'
import { keepsContracts, throwsWhenCut } from './contract.ts'

const recording: Recording = {
  provider: sglang,
  settings: (url) => ({ baseUrl: `${url}/v1` }),
  model: 'Qwen/Qwen3-8B',
  vectors: 'sglang',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a stream without its end mark throws, wherever it ends', (t) => throwsWhenCut(t, recording))

t.test('a prefix is continued', async (t) => {
  const stage = await staged(t, recording)
  const answer = await stage.upstream.chat!({ model: 'm', stream: true, body: { messages }, prefix: 'Two ca' }, never)
  if (answer.kind === 'chunks') await collectChunks(answer.chunks)
  t.same(stage.asked(), {
    model: 'm',
    messages: [...messages, { role: 'assistant', content: 'Two ca' }],
    stream: true,
    stream_options: { include_usage: true },
    continue_final_message: true,
  })
})

t.test('the server’s own fields and embeddings pass', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const { choices } = await completed(stage.upstream, { model: 'm', stream, body: { messages } })
    t.equal(choices[0]!['matched_stop'], 151645)
    t.equal(choices[0]!.message['reasoning_content'], 'We count them.')
    t.equal(choices[0]!.message.role, 'assistant', 'a null role says nothing')
  }
  const server = await backend(t, async () => ({ headers: json, body: await vector('sglang/embeddings.json') }))
  const upstream = await provided(t, sglang, { baseUrl: server.url })
  const { vectors, usage } = await upstream.embed!({ model: 'm', texts: ['a', 'b'] }, never)
  t.same(numbersOf(vectors), recordedVectors)
  t.same(usage, { input: 8, output: 0 })
})

t.test('requests equal those of the documented client', (t) =>
  asksAlike(t, recording, { apiKey: 'k' }, (url) => new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 }), {
    separate_reasoning: true,
    regex: '[ab]',
    min_p: 0.1,
  }),
)

for (const [decisions, answer] of [
  ['systemone', systemOneAnswer],
  ['decisions', decisionsAnswer],
] as const) {
  const settings = (url: string) => ({ ...recording.settings(url), decisions })
  t.test(`decides by ${decisions}`, (t) => decides(t, { provider: sglang, settings, path: `/v1/${decisions}`, answer }))
}

t.test('questions have known keys only, and images stand beside the state', async (t) => {
  const server = await backend(t, ({ body }) => ({ headers: json, body: systemOneAnswer(body.toString()) }))
  const upstream = await provided(t, sglang, {
    ...recording.settings(server.url),
    type: 'DECISION',
    decisions: 'systemone',
  })
  t.ok(upstream.chat, 'and still chats')
  const images = ['data:image/png;base64,AAEC']
  await upstream.decide!(decideCall('m', { images, samples: 2, steps: 2 }), never)
  const parsed = JSON.parse(server.asked[0]!.body.toString())
  t.same(Object.keys(parsed), ['model', 'state', 'questions', 'images'])
  t.same(parsed.images, images)
  for (const question of Object.values<object>(parsed.questions)) {
    t.same(Object.keys(question), ['type', 'instructions', 'criteria'])
  }
})
