import '../fakes/unwatched.ts'
import t from 'tap'
import { opened } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'
import { sealedDoors } from '../fakes/sealed-doors.ts'
import { sealing } from '../fakes/proxied.ts'

const hello = scripted(() => [{ say: 'Hello' }])
const image = 'data:image/png;base64,AAAA'
const text = [{ role: 'user', content: 'Hi' }]

/** A request with an image by each door, or with what stands in its place. */
const doors = (model: string, url = image): readonly (readonly [path: string, body: object])[] => [
  [
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
  ],
  [
    '/std/chat/completions',
    { model, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
  ],
  ['/v1/responses', { model, input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }],
  [
    '/v1/messages',
    {
      ...{ model, max_tokens: 9 },
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
        },
      ],
    },
  ],
  [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }] },
  ],
]

const blind = { upstreams: [{ provider: 'chat', model: 'gpt-own' }], input_modalities: ['text'] }
const sees = { ...blind, input_modalities: ['text', 'image'] }

t.test('an image before a model of text alone is refused by every door', async (t) => {
  const { input_modalities: _, ...plain } = blind
  const gateway = await opened(t, hello, {}, { models: { blind, sees, plain } })
  for (const [path, body] of doors('blind')) {
    const answer = await gateway.call('POST', path, body)
    t.match([answer.status, await answer.text()], [400, /no image/], path)
  }
  const film = { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }] }] }
  const refused = await gateway.call('POST', '/v1beta/models/sees:generateContent', film)
  t.match([refused.status, await refused.text()], [400, /no video/])
  t.equal(gateway.backend.asked.length, 0, 'no backend is asked')
  for (const [path, body] of doors('sees')) t.equal((await gateway.call('POST', path, body)).status, 200, path)
  for (const [path, body] of doors('plain'))
    t.equal((await gateway.call('POST', path, body)).status, 200, 'nobody said')
})

t.test('an image before a sealed model of text alone is refused by its enclave', async (t) => {
  const models = { blind: { ...blind, standard: false, confidential: true } }
  const gateway = await sealedDoors(t, hello, {}, { models })
  const { url } = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const base = url.replace(/\/v1$/, '')
  for (const [path, body] of doors('blind').filter(([path]) => !path.startsWith('/std')))
    t.match((await fetch(base + path, { method: 'POST', body: JSON.stringify(body) })).status, 400, path)
  t.equal(gateway.backend.asked.length, 0, 'no backend is asked')
})

t.test('fields of sampling that a model refuses are left out and told', async (t) => {
  const old = { upstreams: [{ provider: 'messages', model: 'claude-sonnet-4-20250514' }] }
  const newer = { upstreams: [{ provider: 'messages', model: 'claude-opus-4-6' }] }
  const doors = await opened(
    t,
    hello,
    {},
    { models: { old, newer, messages: { upstreams: [{ provider: 'messages', model: 'claude-opus-4-8' }] } } },
  )
  const ask = async (path: string, body: object) =>
    (await doors.call('POST', path, body)).headers.get('x-sealgate-dropped')
  const sampled = { messages: text, temperature: 0.2, top_p: 0.9, max_tokens: 4_000 }
  t.equal(await ask('/v1/chat/completions', { ...sampled, model: 'messages' }), 'temperature, top_p')
  t.notOk('temperature' in doors.asked())
  t.equal(await ask('/v1/chat/completions', { ...sampled, model: 'old' }), null)
  t.match(doors.asked(), { temperature: 0.2, top_p: 0.9 })
  t.equal(await ask('/v1/chat/completions', { ...sampled, model: 'newer' }), 'top_p', 'one of both alone')
  t.match(doors.asked(), { temperature: 0.2, top_p: undefined })
  t.equal(await ask('/v1/chat/completions', { ...sampled, model: 'newer', temperature: 1 }), 'temperature')
  t.match(doors.asked(), { temperature: undefined, top_p: 0.9 })
  const thinks = { ...sampled, model: 'old', reasoning_effort: 'high' }
  t.equal(await ask('/v1/chat/completions', thinks), 'temperature, top_p', 'no sampling beside thoughts')
  t.equal(await ask('/v1/messages', { ...sampled, model: 'messages' }), null, 'a native request is left alone')
  t.match(doors.asked(), { temperature: 0.2 })
})

t.test('sound goes on, and what was written into a cache is counted', async (t) => {
  const details = { cached_tokens: 3, cache_write_tokens: 4 }
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, prompt_tokens_details: details }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
  const body = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage })
  const doors = await opened(t, () => ({ headers: { 'content-type': 'application/json' }, body }))
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const heard = await doors.call('POST', '/v1/responses', {
    model: 'chat',
    input: [{ role: 'user', content: [sound] }],
  })
  t.equal(heard.headers.get('x-sealgate-dropped'), null)
  t.same(doors.asked().messages[0].content, [sound])
  t.match(await heard.json(), { usage: { input_tokens_details: details } })
  const chat = (await (
    await doors.call('POST', '/v1/messages', { model: 'chat', max_tokens: 9, messages: text })
  ).json()) as any
  t.match(chat.content, [{ text: 'Hi' }])
})

t.test('several choices of a backend that gives one are told as left out', async (t) => {
  const doors = await opened(t, hello, { converse: 'converse' })
  for (const model of ['responses', 'converse'])
    for (const [n, told] of [
      [2, 'n'],
      [1, null],
    ] as const) {
      const answer = await doors.call('POST', '/v1/chat/completions', { model, n, messages: text })
      t.equal(answer.headers.get('x-sealgate-dropped'), told, `${n} of ${model}`)
    }
})

t.test(
  'calls that shall come one by one, and the chosen look at an image, are told where the dialect lacks them',
  async (t) => {
    const doors = await opened(t, hello, { converse: 'converse' })
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
    const told = async (model: string, more: object) =>
      (await doors.call('POST', '/v1/chat/completions', { model, messages: text, tools, ...more })).headers.get(
        'x-sealgate-dropped',
      )
    for (const model of ['gemini', 'converse']) {
      t.equal(await told(model, { parallel_tool_calls: false }), 'parallel_tool_calls', model)
      t.equal(await told(model, { parallel_tool_calls: true }), null, `${model} does so by itself`)
    }
    t.equal(await told('messages', { parallel_tool_calls: false }), null)
    const seen = (detail?: string) => ({
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: image, ...(detail && { detail }) } }] },
      ],
    })
    for (const model of ['gemini', 'messages', 'converse']) {
      t.equal(await told(model, seen('low')), 'messages.content.image_url.detail', model)
      for (const usual of ['auto', undefined]) t.equal(await told(model, seen(usual)), null, `${model} ${usual}`)
    }
    for (const model of ['chat', 'responses']) t.equal(await told(model, seen('low')), null, model)
  },
)

for (const model of ['messages', 'gemini']) {
  t.test(`a choice of ${model} has each member that clients expect`, async (t) => {
    const doors = await opened(t, hello)
    const answer: any = await (await doors.call('POST', '/v1/chat/completions', { model, messages: text })).json()
    t.match(answer.choices, [{ index: 0, finish_reason: 'stop', logprobs: null, message: { refusal: null } }])
  })
}

t.test('a backend that refuses a chat as a whole keeps no other backend from it', async (t) => {
  const upstreams = [
    { provider: 'chat', model: 'gpt' },
    { provider: 'messages', model: 'claude-opus-4-8', priority: 2 },
  ]
  const doors = await opened(t, hello, {}, { models: { several: { upstreams } } })
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const body = { model: 'several', temperature: 0.5, messages: [{ role: 'user', content: [sound] }] }
  t.equal((await doors.call('POST', '/v1/chat/completions', body)).status, 200)
})
