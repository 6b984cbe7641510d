import OpenAI from 'openai'
import t from 'tap'
import { collectChunks } from '../../../core/inference/collect-chunks.ts'
import vllm from '../../../plugins/providers/vllm.ts'
import { decideCall, decides, decisionsAnswer } from '../../fakes/deciding.ts'
import { backend, eventStream, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { asksAlike, completed, json, messages, never, numbersOf, recordedVectors } from '../../fakes/vendor.ts'
import { keepsContracts, throwsWhenCut } from './contract.ts'

const recording: Recording = {
  provider: vllm,
  settings: (url) => ({ apiKey: 'token-1', baseUrl: `${url}/v1` }),
  model: 'Qwen/Qwen3-8B',
  vectors: 'vllm',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
  counts: /^\/tokenize$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a prompt of text is counted with its tools, and one with images is not', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('vllm/count.json') }))
  const upstream = await provided(t, vllm, recording.settings(server.url))
  const { model } = recording
  const tools = [{ type: 'function', function: { name: 'look' } }]
  t.same(await upstream.countTokens!({ model, body: { messages, tools, max_tokens: 9 } }, never), { tokens: 21 })
  t.same(JSON.parse(server.asked[0]!.body.toString()), { model, messages, tools })
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  t.equal(await upstream.countTokens!({ model, body: { messages: [{ role: 'user', content: [image] }] } }, never), null)
  t.equal(server.asked.length, 1)
})

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
    add_generation_prompt: false,
  })
})

t.test('the server’s own fields, embeddings and transcripts pass', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const { choices } = await completed(stage.upstream, { model: 'm', stream, body: { messages } })
    t.equal(choices[0]!.message['reasoning_content'], 'We count them.')
    t.ok('stop_reason' in choices[0]!)
  }
  const server = await backend(t, async ({ path }) => ({
    headers: json,
    body: await vector(`vllm/${/transcr/.test(path) ? 'transcription' : 'embeddings'}.json`),
  }))
  const upstream = await provided(t, vllm, { baseUrl: server.url, type: 'EMBEDDING' })
  const { vectors } = await upstream.embed!({ model: 'm', texts: ['a', 'b'] }, never)
  t.same(numbersOf(vectors), recordedVectors)
  const audio = { name: 'a.wav', mime: 'audio/wav', bytes: new Uint8Array(3) }
  t.match(await upstream.transcribe!({ model: 'm', audio }, never), {
    text: 'Hello there.',
    language: 'en',
    duration: 2.5,
    words: [],
  })
  t.equal(upstream.speak, undefined)
  t.equal(upstream.draw, undefined)
})

t.test('requests equal those of the documented client', (t) =>
  asksAlike(t, recording, {}, (url) => new OpenAI({ apiKey: 'token-1', baseURL: `${url}/v1`, maxRetries: 0 }), {
    top_k: 20,
    guided_choice: ['a', 'b'],
    chat_template_kwargs: { enable_thinking: false },
  }),
)

t.test('decisions travel in the server’s form', (t) =>
  decides(t, {
    provider: vllm,
    settings: (url) => ({ ...recording.settings(url), decisions: 'decisions' }),
    path: '/v1/decisions',
    answer: decisionsAnswer,
  }),
)

t.test('a decision takes the tokens of the answers alone', async (t) => {
  const vocabulary = ['A', 'B', 'C', 'D', ' A', 'a', 'yes', ' Yes', 'no', 'No', '0', '1', '2']
  const server = await backend(t, ({ path, body }) => {
    const parsed = JSON.parse(body.toString())
    if (path === '/tokenize') {
      const at = vocabulary.indexOf(parsed.prompt)
      return { headers: json, body: JSON.stringify({ tokens: at < 0 ? [90, 91] : [at], count: at < 0 ? 2 : 1 }) }
    }
    const each = (parsed.logprob_token_ids as number[]).map((id, at, all) => ({
      token: vocabulary[id],
      logprob: Math.log((0.9 * (at + 1)) / ((all.length * (all.length + 1)) / 2)),
    }))
    const logprobs = { content: [{ ...each[0], top_logprobs: each }] }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'A' }, finish_reason: 'length', logprobs }]
    const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }
    return {
      headers: json,
      body: JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices, usage }),
    }
  })
  const upstream = await provided(t, vllm, { ...recording.settings(server.url), decisions: 'tokens' })
  const { distributions, engine } = await upstream.decide!(decideCall('m'), never)
  t.equal(engine, 'logprobs')
  const asked = server.asked
    .filter(({ path }) => path === '/v1/chat/completions')
    .map(({ body }) => JSON.parse(body.toString()))
  const named = asked.map(({ logprob_token_ids }) =>
    logprob_token_ids
      .map((id: number) => vocabulary[id])
      .sort()
      .join(','),
  )
  t.same(named.sort(), ['0,1,2', ' A,A,B,C,D,a', ' Yes,No,no,yes'].sort())
  t.match(asked[0], { max_tokens: 1, temperature: 0, logprobs: true, top_logprobs: 20 })
  const [, , score] = distributions
  t.ok(
    score!.probabilities.every((p, at) => Math.abs(p - (at + 1) / 6) < 1e-12),
    `${score!.probabilities}`,
  )
  for (const { labelMass, truncated } of distributions) {
    t.ok(Math.abs(labelMass! - 0.9) < 1e-12)
    t.equal(truncated, false)
  }
  const before = server.asked.length
  await upstream.decide!(decideCall('m'), never)
  t.equal(server.asked.length, before + 3, 'tokens are looked up once')
})
