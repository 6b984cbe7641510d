import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import mistral from '../../../plugins/providers/mistral.ts'
import { eventStream, type Recording } from '../../contracts/stage.ts'
import {
  completed,
  embedsInBatches,
  listing,
  messages,
  never,
  refusal,
  scripted,
  typesOf,
  wording,
} from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: mistral,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: `${url}/v1` }),
  model: 'mistral-small-latest',
  vectors: 'mistral',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
}

t.test('contracts', (t) =>
  keepsContracts(t, recording, {
    'fields that nobody knows go through, both ways': 'its documented answers have no field of their own',
  }),
)

t.test('a request has the words of Mistral alone', async (t) => {
  const call = { id: 'call_from_another', type: 'function', function: { name: 'weather', arguments: '{}' } }
  const body = {
    messages: [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [call], reasoning_content: 'Hm', thinking_blocks: [] },
      { role: 'tool', tool_call_id: call.id, content: 'sunny' },
      { role: 'assistant', content: '', tool_calls: [{ ...call, id: 'a1B2c3D4e' }] },
    ],
    seed: 7,
    max_completion_tokens: 9,
    user: 'u',
    logprobs: true,
    safe_prompt: true,
    nobody_knows: 1,
  }
  const sent = await wording(t, recording, { stream: true, body })
  t.equal(sent.path, '/v1/chat/completions')
  t.equal(sent.headers.authorization, 'Bearer key-1')
  const { messages, ...fields } = sent.body as { messages: any[] }
  t.same(fields, {
    model: recording.model,
    stream: true,
    random_seed: 7,
    max_tokens: 9,
    safe_prompt: true,
    nobody_knows: 1,
  })
  t.equal(messages[0].role, 'system')
  t.same(Object.keys(messages[2]).sort(), ['content', 'role', 'tool_calls'], 'no member of others')
  t.same(messages[2].content, [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }], 'thoughts have a type')
  t.match(messages[2].tool_calls[0].id, /^[A-Za-z0-9]{9}$/)
  t.equal(messages[3].tool_call_id, messages[2].tool_calls[0].id, 'an answer keeps its call')
  t.equal(messages[4].tool_calls[0].id, 'a1B2c3D4e', 'an id of its own form stays')
})

t.test('thoughts beside the text become reasoning, and its ends the common ones', async (t) => {
  const { upstream } = await scripted(t, recording, 'thinking.json')
  const { choices } = await completed(upstream, { model: 'm', stream: false, body: { messages } })
  t.match(choices[0], {
    message: { content: /^Two cafés/, reasoning_content: 'We count them.' },
    finish_reason: 'length',
  })
})

t.test('models and embeddings', async (t) => {
  const { models, asked: request } = await listing(t, recording)
  t.equal(request.headers.authorization, 'Bearer key-1')
  t.same(typesOf(models), [
    ['mistral-small-latest', 'CHAT'],
    ['mistral-embed', 'EMBEDDING'],
  ])
  const vectors = await scripted(t, recording, 'embeddings.json')
  const { usage } = await vectors.upstream.embed!({ model: 'mistral-embed', texts: ['a', 'b'], dimensions: 3 }, never)
  t.same(usage, { input: 8, output: 0 })
  t.match(JSON.parse(vectors.asked[0]!.body.toString()), { model: 'mistral-embed', output_dimension: 3 })
})

t.test('texts beyond one request are embedded by several, in their order', (t) =>
  embedsInBatches(t, recording, { model: 'mistral-embed', most: 256, path: '/v1/embeddings' }),
)

t.test('refusals', async (t) => {
  t.match(await refusal(t, recording, 422, '{"message":{"detail":[{"type":"extra_forbidden","loc":["body","x"]}]}}'), {
    constructor: BadRequest,
  })
  const long =
    '{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}'
  t.match(await refusal(t, recording, 400, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  t.match(await refusal(t, recording, 404, '{}'), { constructor: UpstreamFailed, again: true })
})
