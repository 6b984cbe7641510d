import { Ollama } from 'ollama'
import t from 'tap'
import { BadRequest } from '../../../core/errors.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'
import ollama from '../../../plugins/providers/ollama.ts'
import { decideCall, decides, questions, systemOneAnswer, waiting } from '../../fakes/deciding.ts'
import type { Asked } from '../../fakes/recorded.ts'
import { backend, everyCut, lineStream, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { until } from '../../until.ts'
import { compare, comparedOf, completed, json, never, numbersOf, recordedVectors } from '../../fakes/vendor.ts'
import { keepsContracts } from './contract.ts'

const recording: Recording = {
  provider: ollama,
  settings: (url) => ({ baseUrl: url }),
  model: 'qwen3:8b',
  vectors: 'ollama',
  stream: lineStream,
  lists: /^\/api\/tags$/,
  chats: /^\/api\/chat$/,
}

t.test('contracts', (t) => keepsContracts(t, recording))

t.test('a stream without its last line throws, wherever it ends', async (t) => {
  const { bytes, fooled } = await everyCut(t, recording)
  t.same(fooled, [bytes])
})

t.test('answers have the common format', async (t) => {
  const stage = await staged(t, recording)
  for (const stream of [false, true]) {
    const { id, created, choices, usage, ...rest } = await completed(stage.upstream, {
      model: 'm',
      stream,
      body: { messages: [{ role: 'user', content: 'x' }] },
    })
    t.match(id, /^chatcmpl-[0-9a-f]{24}$/)
    t.equal(created, Math.floor(Date.parse('2025-11-15T09:46:40Z') / 1000))
    t.equal(choices[0]!.message['reasoning_content'], 'We count them.')
    const { content } = choices[0]!.logprobs as { content: { token: string; top_logprobs: unknown[] }[] }
    t.equal(content.map(({ token }) => token).join(''), choices[0]!.message.content)
    t.equal(content[0]!.top_logprobs.length, 2)
    t.same(usage, { prompt_tokens: 26, completion_tokens: 18, total_tokens: 44 })
    t.equal(rest['eval_duration'], 4535599000, 'what they alone tell')
  }
})

t.test('models and embeddings have the common format', async (t) => {
  const server = await backend(t, async ({ path }) => ({
    headers: json,
    body: await vector(`ollama/${path.endsWith('tags') ? 'models' : 'embeddings'}.json`),
  }))
  const upstream = await provided(t, ollama, { baseUrl: server.url })
  t.same(await upstream.models(never), [
    { id: 'qwen3:8b', type: 'CHAT' },
    { id: 'nomic-embed-text:latest', type: 'EMBEDDING' },
  ])
  const { vectors, usage } = await upstream.embed!({ model: 'nomic-embed-text', texts: ['a', 'b'] }, never)
  t.same(numbersOf(vectors), recordedVectors)
  t.same(usage, { input: 8, output: 0 })
})

t.test('requests equal those of the vendor’s own client', async (t) => {
  const server = await backend(t, async ({ path, body }) => {
    const name = path.endsWith('tags') ? 'models' : path.endsWith('embed') ? 'embeddings' : 'chat'
    return body.includes('"stream":true')
      ? { headers: { 'content-type': 'application/x-ndjson' }, body: await vector('ollama/chat.ndjson') }
      : { headers: json, body: await vector(`ollama/${name}.json`) }
  })
  const ours = await provided(t, ollama, { baseUrl: server.url })
  const theirs = new Ollama({ host: server.url })
  for (const compared of await comparedOf('ollama'))
    for (const stream of [false, true]) {
      await completed(ours, { model: compared.model, stream, body: compared.ours as ChatBody })
      const answer: any = await theirs.chat({
        model: compared.model,
        stream,
        ...structuredClone(compared.theirs),
      } as never)
      if (stream) for await (const _ of answer);
      compare(t, server)
    }
  await ours.embed!({ model: 'nomic-embed-text', texts: ['a', 'b'], dimensions: 3 }, never)
  await theirs.embed({ model: 'nomic-embed-text', input: ['a', 'b'], dimensions: 3 })
  compare(t, server)
  await ours.models(never)
  await theirs.list()
  compare(t, server)
})

t.test('a request beyond the vendor’s format is the caller’s mistake', async (t) => {
  const upstream = await provided(t, ollama, { baseUrl: 'http://127.0.0.1:1' })
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '[not json' } }]
  const work = upstream.chat!(
    { model: 'm', stream: false, body: { messages: [{ role: 'assistant', tool_calls }] } },
    never,
  )
  await t.rejects(work, BadRequest)
  const free = [{ id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }]
  const written = { messages: [{ role: 'assistant', tool_calls: free as never }] }
  await t.rejects(upstream.chat!({ model: 'm', stream: false, body: written }, never), BadRequest)
  const sound = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }
  const heard = upstream.chat!(
    { model: 'm', stream: false, body: { messages: [{ role: 'user', content: [sound] }] } },
    never,
  )
  await t.rejects(heard, BadRequest)
})

t.test('a prefix is continued', async (t) => {
  const stage = await staged(t, recording)
  const messages = [{ role: 'user', content: 'x' }]
  await stage.upstream.chat!(
    {
      model: 'm',
      stream: false,
      body: { messages, reasoning_effort: 'none', response_format: { type: 'json_object' } },
      prefix: 'Two ca',
    },
    never,
  )
  t.same(stage.asked(), {
    model: 'm',
    messages: [...messages, { role: 'assistant', content: 'Two ca' }],
    stream: false,
    think: false,
    format: 'json',
  })
})

const deciding = (url: string) => ({ baseUrl: url, decisions: true })

t.test('decisions travel in the vendor’s form', (t) =>
  decides(t, { provider: ollama, settings: deciding, path: '/v1/systemone', answer: systemOneAnswer }),
)

t.test('each question is one request, equal to that of the vendor’s own client', async (t) => {
  const server = await backend(t, async ({ path, body }) => ({
    headers: json,
    body: path.endsWith('tags') ? await vector('ollama/models.json') : systemOneAnswer(body.toString()),
  }))
  const ours = await provided(t, ollama, deciding(server.url))
  t.notOk(ours.chat || ours.embed, 'it does nothing else')
  t.same(
    (await ours.models(never)).map(({ type }) => type),
    ['DECISION', 'DECISION'],
  )
  server.asked.splice(0)
  const theirs = new Ollama({ host: server.url })
  const told = [
    { type: 'choice', instructions: 'Which?', criteria: { 10: null, 2: null, b: 'The letter', ['__proto__']: null } },
    { type: 'noul', instructions: 'Is it so?', criteria: { true: 'It is', false: '' } },
    { type: 'score', instructions: 'How much?', criteria: ['low', 'middle', 'high'] },
  ] as const
  await ours.decide!(decideCall('nimble', { state: 'A state.' }), never)
  const asked = server.asked.splice(0).map(({ body }) => body.toString())
  t.equal(asked.length, questions.length)
  for (const [at, question] of told.entries()) {
    await theirs.systemone({ model: 'nimble', state: 'A state.', questions: { q1: question as never } })
    const [other] = server.asked.splice(0) as [Asked]
    t.equal(other.path, '/v1/systemone')
    const same = asked.filter(
      (one) => JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other.body.toString())),
    )
    t.equal(same.length, 1, `question ${at + 1}`)
  }
  const structured = { type: 'score', instructions: null, levels: [['a'], null] } as never
  await ours.decide!(
    decideCall('m', { state: null, images: ['data:image/png;base64,AAEC'], questions: [structured] }),
    never,
  )
  t.same(JSON.parse(server.asked[0]!.body.toString()), {
    model: 'm',
    state: '',
    questions: { q1: { type: 'score', instructions: '', criteria: ['["a"]', '1'] } },
    images: ['AAEC'],
  })
})

t.test('a failed question ends the other questions', async (t) => {
  const { url, seen } = await waiting(t, (body) => body.includes('"noul"'), 3)
  const upstream = await provided(t, ollama, deciding(url))
  await t.rejects(upstream.decide!(decideCall('m'), never))
  t.ok(await until(() => seen.left === 2))
  t.equal(seen.asked, 3)
})
