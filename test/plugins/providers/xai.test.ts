import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import xai from '../../../plugins/providers/xai.ts'
import { eventStream, type Recording } from '../../contracts/stage.ts'
import { listing, messages, never, refusal, scripted, tellsThoughts, typesOf, wording } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: xai,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: `${url}/v1` }),
  model: 'grok-3-mini',
  vectors: 'xai',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/chat\/completions$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('models that think get no field that they refuse', async (t) => {
  const body = { messages, stop: ['x'], presence_penalty: 1, reasoning_effort: 'low', store: true, seed: 3 }
  const bodyFor = async (model: string) => {
    const sent = await wording(t, recording, { model, body })
    t.equal(sent.path, '/v1/chat/completions')
    t.equal(sent.headers.authorization, 'Bearer key-1')
    return sent.body
  }
  t.same(await bodyFor('grok-3-mini'), { model: 'grok-3-mini', messages, reasoning_effort: 'low', seed: 3 })
  t.same(await bodyFor('grok-4'), { model: 'grok-4', messages, seed: 3 })
  const { store: _, ...rest } = body
  const quick = 'grok-4-1-fast-non-reasoning'
  t.same(await bodyFor(quick), { model: quick, ...rest })
})

t.test('thoughts count as completed, whole and streamed', (t) =>
  tellsThoughts(t, recording, {
    prompt_tokens: 19,
    completion_tokens: 30,
    total_tokens: 49,
    prompt_tokens_details: { cached_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 19 },
  }),
)

t.test('models and images', async (t) => {
  const { models } = await listing(t, recording)
  t.same(typesOf(models), [
    ['grok-3-mini', 'CHAT'],
    ['grok-2-image-1212', 'IMAGE'],
  ])
  const { upstream, asked: requests } = await scripted(t, recording, 'images.json')
  const drawn = await upstream.draw!({ model: 'grok-2-image', prompt: 'A cat', count: 1 }, never)
  t.match(drawn[0], { mime: 'image/png', revisedPrompt: 'A cat, in detail' })
  t.match(JSON.parse(requests[0]!.body.toString()), { response_format: 'b64_json', n: 1 })
  for (const [size, extra, shape] of [
    ['1792x1024', {}, '16:9'],
    ['1024x1536', {}, '2:3'],
    ['auto', {}, undefined],
    ['1024x1024', { aspect_ratio: '2:1' }, '2:1'],
  ] as const) {
    await upstream.draw!({ model: 'grok-imagine-image', prompt: 'A cat', count: 1, size, extra }, never)
    const { size: sent, aspect_ratio } = JSON.parse(requests.at(-1)!.body.toString())
    t.same([sent, aspect_ratio], [undefined, shape], size)
  }
})

t.test('refusals', async (t) => {
  const long = `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`
  t.match(await refusal(t, recording, 400, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  const key = '{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***LA."}'
  t.match(await refusal(t, recording, 400, key), { constructor: UpstreamFailed, again: true, answered: 401 })
  const banned =
    '{"code":"The caller does not have permission","error":"Content violates usage guidelines. Failed check: X"}'
  t.match(await refusal(t, recording, 403, banned), { constructor: BadRequest, code: 'content_filter', told: null })
  t.match(await refusal(t, recording, 403, '{"error":"no credits"}'), { constructor: UpstreamFailed, again: true })
})
