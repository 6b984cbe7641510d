import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import together from '../../../plugins/providers/together.ts'
import { eventStream, type Recording } from '../../contracts/stage.ts'
import { listing, never, refusal, scripted, typesOf, wording } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: together,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: `${url}/v1` }),
  model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  vectors: 'together',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a request has the key, and roles that Together knows', async (t) => {
  const sent = await wording(t, recording, { body: { messages: [{ role: 'developer', content: 'Be short.' }] } })
  t.equal(sent.path, '/v1/chat/completions')
  t.equal(sent.headers.authorization, 'Bearer key-1')
  t.same(sent.body, { model: recording.model, messages: [{ role: 'system', content: 'Be short.' }] })
})

t.test('a bare list of models, by what they are for', async (t) => {
  const { models } = await listing(t, recording)
  t.same(typesOf(models), [
    ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 'CHAT'],
    ['BAAI/bge-large-en-v1.5', 'EMBEDDING'],
    ['black-forest-labs/FLUX.1-schnell', 'IMAGE'],
    ['openai/whisper-large-v3', 'AUDIO_TRANSCRIPTION'],
  ])
})

t.test('embeddings and images', async (t) => {
  const vectors = await scripted(t, recording, 'embeddings.json')
  const embedded = await vectors.upstream.embed!({ model: 'b', texts: ['a', 'b'] }, never)
  t.same([...embedded.vectors[1]!], [1, 2, -3])
  const images = await scripted(t, recording, 'images.json')
  const drawn = await images.upstream.draw!({ model: 'f', prompt: 'A cat', size: '512x256', count: 1 }, never)
  t.equal(drawn[0]!.mime, 'image/png')
  t.same(JSON.parse(images.asked[0]!.body.toString()), {
    model: 'f',
    prompt: 'A cat',
    n: 1,
    width: 512,
    height: 256,
    response_format: 'base64',
  })
})

t.test('refusals', async (t) => {
  const long =
    '{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193, maximum context length","type":"invalid_request_error"}}'
  t.match(await refusal(t, recording, 422, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  t.match(await refusal(t, recording, 402, '{"error":{"message":"Insufficient credits"}}'), {
    constructor: UpstreamFailed,
    again: true,
    code: 'insufficient_quota',
  })
})
