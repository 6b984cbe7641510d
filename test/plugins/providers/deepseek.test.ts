import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import deepseek from '../../../plugins/providers/deepseek.ts'
import { eventStream, type Recording } from '../../contracts/stage.ts'
import { completed, listing, messages, refusal, scripted, tellsThoughts, wording } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: deepseek,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: url }),
  model: 'deepseek-chat',
  vectors: 'deepseek',
  stream: eventStream,
  lists: /^\/models$/,
  chats: /^\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a request has the words of DeepSeek alone', async (t) => {
  const body = {
    messages: [{ role: 'developer', content: 'Be short.' }],
    seed: 7,
    max_completion_tokens: 9,
    parallel_tool_calls: true,
    thinking: { type: 'enabled' },
  }
  const sent = await wording(t, recording, { body })
  t.equal(sent.path, '/chat/completions')
  t.equal(sent.headers.authorization, 'Bearer key-1')
  t.same(sent.body, {
    model: recording.model,
    messages: [{ role: 'system', content: 'Be short.' }],
    max_tokens: 9,
    thinking: { type: 'enabled' },
  })
})

t.test('reasoning, and what its cache held, whole and streamed', (t) =>
  tellsThoughts(t, recording, { prompt_tokens_details: { cached_tokens: 16 }, prompt_cache_hit_tokens: 16 }),
)

t.test('models', async (t) => {
  const { models } = await listing(t, recording)
  t.same(models, [
    { id: 'deepseek-chat', type: 'CHAT' },
    { id: 'deepseek-reasoner', type: 'CHAT' },
  ])
  const { upstream } = await scripted(t, recording, 'models.json')
  t.notOk(upstream.embed || upstream.draw || upstream.speak, 'DeepSeek only chats')
})

t.test('refusals', async (t) => {
  const poor = '{"error":{"message":"Insufficient Balance","type":"unknown_error"}}'
  t.match(await refusal(t, recording, 402, poor), {
    constructor: UpstreamFailed,
    again: true,
    code: 'insufficient_quota',
  })
  const long = `{"error":{"message":"This model's maximum context length is 65536 tokens","type":"invalid_request_error"}}`
  t.match(await refusal(t, recording, 400, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  const { upstream } = await scripted(t, recording, 'short-of-resources.json')
  const broken = completed(upstream, { model: 'm', stream: false, body: { messages } })
  await t.rejects(broken, UpstreamFailed, 'an answer that lacked resources is none')
})
