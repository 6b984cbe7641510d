import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import groq from '../../../plugins/providers/groq.ts'
import { backend, eventStream, provided, type Recording } from '../../contracts/stage.ts'
import { failed } from '../../helpers.ts'
import { completed, listing, messages, refusal, scripted, tellsThoughts, typesOf, wording } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: groq,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: `${url}/openai/v1` }),
  model: 'openai/gpt-oss-120b',
  vectors: 'groq',
  stream: eventStream,
  lists: /^\/openai\/v1\/models$/,
  chats: /^\/openai\/v1\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a request has the words of Groq alone', async (t) => {
  const body = {
    messages: [{ role: 'assistant', content: 'So', reasoning_content: 'Hm', name: 'a' }, ...messages],
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { 1: 2 },
    store: true,
    reasoning_effort: 'low',
  }
  const sent = await wording(t, recording, { body })
  t.equal(sent.path, '/openai/v1/chat/completions')
  t.equal(sent.headers.authorization, 'Bearer key-1')
  t.same(sent.body, {
    model: recording.model,
    messages: [{ role: 'assistant', content: 'So', reasoning: 'Hm' }, ...messages],
    reasoning_effort: 'low',
  })
  const other = await wording(t, recording, { model: 'llama-3.3-70b-versatile', body })
  t.same(other.body['messages'], [{ role: 'assistant', content: 'So' }, ...messages], 'a model that does not think')
})

t.test('reasoning and cached tokens', (t) =>
  tellsThoughts(t, recording, { prompt_tokens_details: { cached_tokens: 12 } }),
)

t.test('a stream that ends in an error of Groq’s own place is broken', async (t) => {
  const begun = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunks = [
    { ...begun, choices: [{ index: 0, delta: { role: 'assistant', content: 'The' }, finish_reason: null }] },
    {
      ...begun,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      x_groq: { id: 'r', error: 'over_capacity' },
    },
  ]
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n'
  const server = await backend(t, () => ({ headers: { 'content-type': 'text/event-stream' }, body }))
  const upstream = await provided(t, groq, recording.settings(server.url))
  const fault = await failed(completed(upstream, { model: 'm', stream: true, body: { messages } }))
  t.match(fault, { constructor: UpstreamFailed, again: true })
})

t.test('models by their names, without those that are out of service', async (t) => {
  const { models } = await listing(t, recording)
  t.same(typesOf(models), [
    ['openai/gpt-oss-120b', 'CHAT'],
    ['whisper-large-v3', 'AUDIO_TRANSCRIPTION'],
    ['playai-tts', 'AUDIO_SPEECH'],
  ])
  const { upstream } = await scripted(t, recording, 'chat.json')
  t.ok(upstream.transcribe && upstream.speak)
  t.notOk(upstream.embed || upstream.draw, 'nothing that Groq lacks')
})

t.test('refusals', async (t) => {
  const long =
    '{"error":{"message":"Please reduce the length of the messages","type":"invalid_request_error","code":"context_length_exceeded"}}'
  t.match(await refusal(t, recording, 400, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  const minute =
    '{"error":{"message":"Request too large on tokens per minute (TPM)","type":"tokens","code":"rate_limit_exceeded"}}'
  t.match(await refusal(t, recording, 413, minute), { constructor: UpstreamFailed, again: true, answered: 429 })
  t.match(await refusal(t, recording, 498, '{}'), { constructor: UpstreamFailed, again: true, status: 503 })
  const full = await refusal(t, recording, 429, '{}', { 'retry-after': '2' })
  t.match(full, { constructor: UpstreamFailed, again: true, answered: 429, retryAfter: 2000 })
})
