import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import cohere from '../../../plugins/providers/cohere.ts'
import { eventStream, type Recording } from '../../contracts/stage.ts'
import { embedsInBatches, listing, messages, never, refusal, scripted, wording } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: cohere,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: url }),
  model: 'command-a-03-2025',
  vectors: 'cohere',
  stream: eventStream,
  lists: /^\/v1\/models\?page_size=1000$/,
  chats: /^\/compatibility\/v1\/chat\/completions$/,
}

t.test('contracts', (t) =>
  keepsContracts(t, recording, {
    'fields that nobody knows go through, both ways': 'its documented answers have no field of their own',
  }),
)

t.test('a request has the words of the compatible surface alone', async (t) => {
  const body = {
    messages,
    n: 1,
    max_completion_tokens: 9,
    parallel_tool_calls: true,
    reasoning_effort: 'low',
    seed: 3,
    nobody_knows: 1,
  }
  const sent = await wording(t, recording, { body, stream: true })
  t.equal(sent.path, '/compatibility/v1/chat/completions')
  t.equal(sent.headers.authorization, 'Bearer key-1')
  t.same(sent.body, {
    model: recording.model,
    messages,
    stream: true,
    max_tokens: 9,
    reasoning_effort: 'high',
    seed: 3,
    nobody_knows: 1,
  })
  const still = await wording(t, recording, { body: { messages, reasoning_effort: 'none' } })
  t.equal(still.body['reasoning_effort'], 'none')
})

t.test('models of its own list, and embeddings', async (t) => {
  const { models, asked: request } = await listing(t, recording)
  t.equal(request.headers.authorization, 'Bearer key-1')
  t.same(models, [
    { id: 'command-a-03-2025', type: 'CHAT' },
    { id: 'command-a-vision-07-2025', type: 'CHAT', modalities: ['text', 'image'] },
    { id: 'embed-v4.0', type: 'EMBEDDING' },
  ])
  const { upstream, asked: embedding } = await scripted(t, recording, 'embeddings.json')
  const { vectors } = await upstream.embed!({ model: 'embed-v4.0', texts: ['a', 'b'] }, never)
  t.same([...vectors[1]!], [1, 2, -3])
  t.equal(embedding[0]!.path, '/compatibility/v1/embeddings')
})

t.test('texts beyond one request are embedded by several, in their order', (t) =>
  embedsInBatches(t, recording, { model: 'embed-v4.0', most: 96, path: '/compatibility/v1/embeddings' }),
)

t.test('refusals', async (t) => {
  const long = '{"message":"too many tokens: total number of tokens in the prompt cannot exceed 128000"}'
  t.match(await refusal(t, recording, 400, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  t.match(await refusal(t, recording, 404, `{"message":"model 'x' not found"}`), {
    constructor: UpstreamFailed,
    again: true,
    code: 'model_not_found',
  })
})
