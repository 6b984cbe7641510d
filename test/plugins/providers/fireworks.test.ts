import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import fireworks from '../../../plugins/providers/fireworks.ts'
import { eventStream, type Recording } from '../../contracts/stage.ts'
import { listing, never, refusal, scripted, tellsThoughts, typesOf, wording } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: fireworks,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: `${url}/inference/v1` }),
  model: 'accounts/fireworks/models/deepseek-v3p1',
  vectors: 'fireworks',
  stream: eventStream,
  lists: /^\/inference\/v1\/models$/,
  chats: /^\/inference\/v1\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a request has the words of Fireworks alone', async (t) => {
  const body = { messages: [{ role: 'developer', content: 'Be short.' }], store: true, verbosity: 'low', top_k: 3 }
  const sent = await wording(t, recording, { body })
  t.equal(sent.path, '/inference/v1/chat/completions')
  t.equal(sent.headers.authorization, 'Bearer key-1')
  t.same(sent.body, { model: recording.model, messages: [{ role: 'system', content: 'Be short.' }], top_k: 3 })
})

t.test('models that chat or embed, and embeddings', async (t) => {
  const { models } = await listing(t, recording)
  t.same(typesOf(models), [
    ['accounts/fireworks/models/deepseek-v3p1', 'CHAT'],
    ['accounts/fireworks/models/qwen3-embedding-8b', 'EMBEDDING'],
  ])
  const { upstream } = await scripted(t, recording, 'embeddings.json')
  const { vectors } = await upstream.embed!({ model: 'q', texts: ['a', 'b'] }, never)
  t.same([...vectors[0]!], [0.25, -0.5, 0.125])
})

t.test('reasoning and cached tokens', (t) =>
  tellsThoughts(t, recording, { prompt_tokens_details: { cached_tokens: 16 } }),
)

t.test('refusals', async (t) => {
  const extra = `{"error":{"object":"error","type":"invalid_request_error","message":"Extra inputs are not permitted, field: 'foo'"}}`
  t.match(await refusal(t, recording, 400, extra), { constructor: BadRequest, code: 'unsupported_parameter' })
  t.match(await refusal(t, recording, 503, '{}'), { constructor: UpstreamFailed, again: true, answered: 503 })
})
