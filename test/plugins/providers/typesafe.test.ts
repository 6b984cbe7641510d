import { noul, score, TypeSafeClient } from '@typesafe-ai/sdk'
import t from 'tap'
import { UpstreamFailed } from '../../../core/errors.ts'
import typesafe from '../../../plugins/providers/typesafe.ts'
import { conform } from '../../contracts/contract.ts'
import { decider } from '../../contracts/decider.ts'
import { decideCall, decides, systemOneAnswer } from '../../fakes/deciding.ts'
import { backend, provided } from '../../contracts/stage.ts'
import { compare, json, never } from '../../fakes/vendor.ts'

const settings = (url: string) => ({ apiKey: 'ts-1', baseUrl: `${url}/` })

t.test('the provider keeps the contract of deciders', (t) =>
  conform(t, decider.contract, async (t) => {
    const list = JSON.stringify({ models: [{ name: 'jev-1.14' }] })
    const server = await backend(t, ({ method, body }) => ({
      headers: json,
      body: method === 'GET' ? list : systemOneAnswer(body.toString()),
    }))
    return { upstream: await provided(t, typesafe, settings(server.url)), model: 'jev-1.14' }
  }),
)

t.test('decisions travel in the vendor’s form', (t) =>
  decides(t, { provider: typesafe, settings, path: '/v1/systemone', answer: systemOneAnswer }),
)

t.test('the list names the models that decide', async (t) => {
  const list = { models: [{ name: 'jev-1.14', description: 'Decides.', release_date: '2026-10-01' }, { name: 'bare' }] }
  let body: unknown = list
  const server = await backend(t, () => ({ headers: json, body: JSON.stringify(body) }))
  const upstream = await provided(t, typesafe, settings(server.url))
  t.same(await upstream.models(never), [
    { id: 'jev-1.14', type: 'DECISION', description: 'Decides.' },
    { id: 'bare', type: 'DECISION' },
  ])
  const client = new TypeSafeClient({ apiKey: 'ts-1', baseURL: server.url })
  await client.models.list()
  compare(t, server)
  for (body of [{}, { models: {} }, { models: [null] }, { models: [{ id: 'x' }] }])
    await t.rejects(upstream.models(never), UpstreamFailed)
})

t.test('requests equal those of the vendor’s own client', async (t) => {
  const server = await backend(t, ({ body }) => ({ headers: json, body: systemOneAnswer(body.toString()) }))
  const upstream = await provided(t, typesafe, settings(server.url))
  const client = new TypeSafeClient({ apiKey: 'ts-1', baseURL: server.url })
  await upstream.decide!(
    decideCall('jev-latest', {
      state: 'A state.',
      questions: [
        {
          type: 'choice',
          instructions: 'Which?',
          options: [
            { label: 'b', description: null },
            { label: 'a', description: 'The first' },
          ],
        },
        { type: 'noul', instructions: null, yes: 'It is', no: null },
        { type: 'noul', instructions: 'Is it?', yes: null, no: null },
        { type: 'score', instructions: 'How much?', levels: ['low', null] },
      ],
    }),
    never,
  )
  await client.systemOne({
    state: 'A state.',
    questions: {
      q1: { type: 'choice', instructions: 'Which?', criteria: { b: null, a: 'The first' } },
      q2: noul(null, { true: 'It is' }),
      q3: noul('Is it?'),
      q4: score('How much?', ['low', null]),
    },
  })
  t.equal(server.asked[0]!.headers['typesafe-danger-zone-images'], undefined)
  compare(t, server)
})

t.test('images have names, and the state mentions each name', async (t) => {
  const server = await backend(t, ({ body }) => ({ headers: json, body: systemOneAnswer(body.toString()) }))
  const upstream = await provided(t, typesafe, {
    ...settings(server.url),
    headers: { 'typesafe-danger-zone-long-context': 'true' },
  })
  const images = ['data:image/png;base64,AAEC', 'data:image/jpeg;base64,/9j/']
  await upstream.decide!(decideCall('m', { images, state: 'A state.' }), never)
  const { headers, body } = server.asked[0]!
  const parsed = JSON.parse(body.toString())
  t.equal(headers['typesafe-danger-zone-images'], 'true')
  t.equal(headers['typesafe-danger-zone-long-context'], 'true')
  t.same(parsed.assets, {
    'image-1': { type: 'image', format: 'png', data_base64: 'AAEC' },
    'image-2': { type: 'image', format: 'jpeg', data_base64: '/9j/' },
  })
  t.same(parsed.state, { images: ['image-1', 'image-2'], state: 'A state.' })
  t.equal(Object.keys(parsed.state)[0], 'images', 'ahead of the state')
})

t.test('probabilities of two digits count, as the vendor rounds', async (t) => {
  const probabilities = { 10: 0.33, 2: 0.33, b: 0.33, ['__proto__']: 0 }
  const body = JSON.stringify({ answers: { q1: { type: 'choice', choice: '10', probabilities, confidence: 0 } } })
  const server = await backend(t, () => ({ headers: json, body: body }))
  const upstream = await provided(t, typesafe, settings(server.url))
  const { distributions, usage } = await upstream.decide!(
    decideCall('m', { questions: decideCall('m').questions.slice(0, 1) }),
    never,
  )
  t.ok(Math.abs(distributions[0]!.probabilities.reduce((sum, probability) => sum + probability) - 1) < 1e-12)
  t.same(usage, { input: 0, output: 0, estimated: true })
})
