import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { print, readOrdered } from '../core/dialects/json.ts'
import { TooMany, UpstreamFailed } from '../core/errors.ts'
import { plugin, use } from '../core/plugin.ts'
import { type DecideCall, type Question, Upstream } from '../core/ports/upstream.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import type { CheckedReceipt } from '../plugins/sealed/client/receipts.ts'
import { fromHex } from '../plugins/sealed/wire/bytes.ts'
import { parseKeyset } from '../plugins/sealed/wire/keyset.ts'
import { agent, toolHouse } from './fakes/agent.ts'
import { chunk, failed } from './fakes/backends.ts'
import { sealing } from './fakes/proxied.ts'
import { craftedText, opened } from './fakes/sealing.ts'
import { traces } from './fakes/traces.ts'
import { given } from './fitted.ts'
import { until } from './until.ts'

const sizeOf = (question: Question): number =>
  question.type === 'choice' ? question.options.length : question.type === 'score' ? question.levels.length : 2

/** A gateway whose model decides, in the clear and sealed: the later of the labels, the likelier. */
const stage = async (t: Test) => {
  const calls: DecideCall[] = []
  const sure = plugin({
    port: Upstream,
    name: 'sure',
    create: (): Upstream => ({
      name: 'sure',
      models: async () => [{ id: 'sure', type: 'DECISION' }],
      async decide(call) {
        calls.push(call)
        if (call.state === 'breaks') throw new UpstreamFailed(undefined, { again: false })
        if (call.state === 'unpaid') throw new TooMany(undefined, { code: 'insufficient_quota', retryAfter: null })
        const distributions = call.questions.map((question) => {
          const shares = Array.from({ length: sizeOf(question) }, (_, at) => at + 1)
          const sum = shares.reduce((all, share) => all + share, 0)
          return { probabilities: shares.map((share) => share / sum) }
        })
        return { distributions, engine: 'played', usage: { input: 11, output: 3 } }
      },
    }),
  })
  const upstreams = [{ provider: 'sure' }]
  const decider = { type: 'DECISION', upstreams } as const
  const calibration = { id: 'of-careful', temperature: 3, byOptions: { 2: 2 } }
  const models = {
    sure: { ...decider, confidential: true },
    careful: { ...decider, upstreams: [{ provider: 'sure', model: 'sure' }], confidential: true, calibration },
    open: decider,
  }
  const house = await toolHouse(t, [], { upstreams: [use(sure)], settings: { models, routing: { retries: 0 } } })
  const client = connect({ baseUrl: house.base, apiKey: house.key, policy: { allowInsecureDev: true } })
  return { ...house, calls, client }
}

const questions = {
  which: { type: 'choice', instructions: 'Which?', criteria: { b: 'The letter', a: null, c: null } },
  so: { type: 'noul', instructions: 'Is it so?' },
  much: { type: 'score', instructions: 'How much?', criteria: ['low', 'middle', 'high'] },
} as const

t.test('a sealed decision is that of the clear route, and nothing of it is readable outside', async (t) => {
  const scene = await stage(t)
  const asked = { model: 'sure', state: { canaryqstate: 'canaryqheron' }, questions }
  const clear = (await (await scene.call('POST', '/compat/v1/decision', asked)).json()) as Record<string, object>
  const seen = scene.logged.length
  const sealed = await scene.client.decisions.create(asked)
  t.same(sealed.answers, clear['answers'])
  t.same(sealed.usage, clear['usage'])
  t.match(sealed, { model: 'sure', diagnostics: { engine: 'played' } })
  t.same(scene.calls[1], { ...scene.calls[0] })
  t.same(
    traces(['canaryqheron', 'canaryqstate'], new Map([['log', Buffer.from(JSON.stringify(scene.logged.slice(seen)))]])),
    [],
  )
  const receipts: CheckedReceipt[] = []
  const receipt = (one: CheckedReceipt) => void receipts.push(one)
  const latest = await scene.client.decisions.create({ ...asked, model: 'jev-latest' }, { receipt })
  t.equal(latest.model, 'sure', 'the first that decides')
  t.match(receipts, [{ facts: { route: 'rvenc/decision', model: 'sure', backend: 'sure' } }], 'with a receipt')
  t.match(receipts[0]!.facts.tokens, { input: latest.usage.input_tokens, output: latest.usage.output_tokens })
  t.same(scene.calls[2], scene.calls[0], 'of which the backend is not asked')
})

t.test('OpenAI’s clients decide sealed by sealgate seal', async (t) => {
  const scene = await stage(t)
  const proxy = await sealing(t, ['--base-url', scene.base, '--allow-insecure-dev'], { SEALGATE_KEY: scene.key })
  const ask = (more: object): Promise<any> =>
    proxy.openai.post('/decisions', { body: { model: 'sure', input: 'canaryqstate', ...more } })
  const predicate = { type: 'predicate', instructions: 'canaryqheron?' }
  const choices = [{ value: 'north', description: 'Up' }, { value: false }, { value: '7' }]
  const seen = scene.logged.length
  const { answers, usage } = await ask({
    questions: [
      { type: 'choice', name: 'which', instructions: 'Which?', choices: choices.slice(0, 2) },
      { type: 'score', name: 'much', instructions: 'How much?', levels: [{ label: 'low' }, { label: 'high' }] },
      ...Array.from({ length: 20 }, () => predicate),
    ],
  })
  t.match(answers, [{ name: 'which', choice: false }, { name: 'much', score: 2 / 3 }, { probability: 1 / 3 }])
  t.equal(answers.length, 22)
  t.match(usage, { input_tokens: 22, output_tokens: 6 }, 'two sealed calls of 16 questions at most')
  const log = Buffer.from(JSON.stringify(scene.logged.slice(seen)))
  t.same(traces(['canaryqheron', 'canaryqstate'], new Map([['log', log]])), [])
  t.ok(
    scene.logged.slice(seen).every(({ facts }) => !/decisions/.test(String(facts['route']))),
    'nothing goes in the clear',
  )

  const failed = async (more: object, status: number, param: string | null) =>
    t.match(await ask(more).catch((error: unknown) => error), { status, param })
  await failed({ questions: [{ type: 'choice', instructions: '?', choices }] }, 400, 'questions.0')
  const many = Array.from({ length: 27 }, (_, at) => ({ value: `v${at}` }))
  await failed({ questions: [{ type: 'choice', instructions: '?', choices: many }] }, 400, 'questions.0')
  await failed({ model: 'open', questions: [predicate] }, 404, 'model')
  await failed({ questions: [{ ...predicate, type: 'odd' }] }, 400, 'questions.0.type')
})

t.test('a sealed decision is not escalated: its bill has one model', async (t) => {
  const scene = await stage(t)
  const asked = { model: 'sure', state: null, questions, escalate: { below: 1, to: 'careful' } }
  await t.rejects(scene.client.decisions.create(asked), { code: 'invalid_parameters', field: 'escalate' })
  await scene.client.decisions.create({ ...asked, escalate: false } as never)
})

const firstKey = async ({ call }: Pick<Awaited<ReturnType<typeof stage>>, 'call'>) => {
  const { keyset } = (await (await call('GET', '/rvenc/keys')).json()) as { keyset: string }
  const key = parseKeyset(fromHex(keyset, 1 << 20) ?? new Uint8Array())?.keys[0]
  if (key === undefined) throw new Error('The enclave has no key')
  return key
}

t.test('a sealed decision goes through the calibration of its model, and says which', async (t) => {
  const scene = await stage(t)
  const asked = { model: 'careful', state: null, questions }
  const clear = (await (await scene.call('POST', '/compat/v1/decision', asked)).json()) as any
  const sealed = (await scene.client.decisions.create(asked)) as any
  t.same(sealed.answers, clear.answers)
  t.ok(Math.abs(sealed.answers.so.noul - 1 / (1 + Math.SQRT2)) < 1e-9, 'the square root of 1 to 2')
  t.equal(sealed.diagnostics.calibration, 'of-careful')
  const plain = await scene.client.decisions.create({ ...asked, model: 'sure' })
  t.notOk('calibration' in ((plain as any).diagnostics ?? {}), 'none where a model has none')
})

t.test('labels keep the order in which they were sealed', async (t) => {
  const scene = await stage(t)
  const criteria = '{"10":null,"2":null,"b":null,"__proto__":null}'
  const text = `{"$for":"rvenc/decision","model":"sure","state":null,"questions":{"9":{"type":"choice","instructions":"?","criteria":${criteria}},"1":{"type":"noul","instructions":"?"}}}`
  const request = craftedText(await firstKey(scene), text)
  const answer = await scene.call('POST', '/rvenc/decision', request.body)
  t.equal(answer.status, 200)
  const [first] = scene.calls.at(-1)?.questions ?? []
  t.same(first?.type === 'choice' && first.options.map(({ label }) => label), ['10', '2', 'b', '__proto__'])
  t.match(opened(request, await answer.json()), { answers: { 9: { choice: '__proto__' }, 1: { noul: Number } } })
  t.equal(print(readOrdered(text)), text)
})

t.test('what is wrong is said under the seal', async (t) => {
  const scene = await stage(t)
  const create = (more: object) => scene.client.decisions.create({ model: 'sure', state: null, questions, ...more })
  const failed = (code: string, field: string | null = null) => ({
    name: 'SealgateError',
    fault: 'failed',
    code,
    field,
  })
  await t.rejects(create({ questions: {} }), failed('invalid_parameters', 'questions'))
  await t.rejects(
    create({ questions: { q: { type: 'odd', instructions: '' } } }),
    failed('invalid_parameters', 'questions.q.type'),
  )
  await t.rejects(create({ images: ['data:image/png;base64,AAAA'] }), failed('refused', 'images.0'))
  await t.rejects(create({ state: 'breaks' }), failed('upstream_failed'))
  for (const model of ['open', 'none']) await t.rejects(create({ model }), failed('unknown_model', 'model'), model)
  const stranger = connect({ baseUrl: scene.base, apiKey: 'sk-none', policy: { allowInsecureDev: true } })
  await t.rejects(stranger.decisions.create({ model: 'sure', state: null, questions }), {
    name: 'SealgateError',
    fault: 'unauthorized',
    code: null,
    field: null,
  })
})

t.test('no time is told for a backend that no time helps', async (t) => {
  const scene = await stage(t)
  const waits: (string | null)[] = []
  const client = connect({
    baseUrl: scene.base,
    apiKey: scene.key,
    policy: { allowInsecureDev: true },
    fetch: async (...asked: Parameters<typeof fetch>) => {
      const answer = await fetch(...asked)
      if (answer.status === 429) waits.push(answer.headers.get('retry-after'))
      return answer
    },
  })
  await t.rejects(client.decisions.create({ model: 'sure', state: 'unpaid', questions }), { name: 'SealgateError' })
  t.same(waits, [null])
})

t.test('it is paid for as a decision in the clear is', async (t) => {
  const scene = await stage(t)
  await scene.client.decisions.create({ model: 'sure', state: null, questions })
  const told = scene.logged.find(({ facts }) => facts['route'] === 'POST /rvenc/decision')
  t.match(told?.facts, { status: 200 })
  const usage = async () => (await scene.call('GET', '/admin/usage')).text()
  await until(async () => (await usage()).includes('"sure"'))
  t.match(await usage(), /"input":11\b/)
})

t.test(
  'prompts that a backend answered before another one decided are paid for, at the price of the model',
  async (t) => {
    let prompts = 0
    const talking = (name: string, answers: number) =>
      given(Upstream, name, () => ({
        name,
        models: async () => [],
        async chat() {
          if (++prompts > answers) throw failed(500)
          const top_logprobs = ['yes', 'no'].map((token) => ({ token, logprob: Math.log(0.4) }))
          const logprobs = { content: [{ ...top_logprobs[0]!, top_logprobs }] }
          const choices = [
            { index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'length', logprobs },
          ]
          const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 }
          return { kind: 'completion', completion: { ...chunk({}), choices, usage } }
        },
      }))
    const priced = (price: number) => ({
      price_config: { confidential: { x: { prompt_price_per_k: price, completion_price_per_k: price } } },
      ...{ decide: true, confidential: true },
      upstreams: [{ provider: 'a' }, { provider: 'b', priority: 2 }],
    })
    const settings = { models: { small: priced(1), large: priced(100) }, routing: { retries: 0 } }
    const house = await toolHouse(t, [], { upstreams: [talking('a', 1), talking('b', 4)], settings })
    const client = connect({ baseUrl: house.base, apiKey: house.key, policy: { allowInsecureDev: true } })
    const asked = { p: { type: 'noul', instructions: 'P?' }, q: { type: 'noul', instructions: 'Q?' } } as const
    const { usage } = (await client.decisions.create({ model: 'small', state: 'Hi', questions: asked })) as {
      usage: object
    }
    t.match(usage, { input_tokens: 300, output_tokens: 3 })
    const rows = async () => (await house.call('GET', '/admin/usage')).text()
    await until(async () => (await rows()).includes('"small"'))
    t.match(await rows(), /"input":300,"output":3\b.*"cost":0?\.303\b/)
  },
)

t.test('an agent decides by the tool', async (t) => {
  const scene = await stage(t)
  const { client } = await agent(t, scene.base, scene.key, { args: ['--allow-insecure-dev', '--tools', 'decide'] })
  const { content } = await client.callTool({ name: 'decide', arguments: { state: 'A text', questions } })
  const [first] = content as { text: string }[]
  t.match(JSON.parse(first?.text ?? ''), { model: 'sure', answers: { which: { choice: 'c' }, so: { noul: Number } } })
})

t.test('a key that stands twice is refused under the seal, and its name stays inside', async (t) => {
  const scene = await stage(t)
  const twice = '{"model":"sure","state":{"canaryqname":1,"canaryqname":2},"questions":{"q":{"type":"noul"}}}'
  const request = craftedText(await firstKey(scene), twice)
  const answer = await scene.call('POST', '/rvenc/decision', request.body)
  const text = await answer.text()
  t.equal(answer.status, 400)
  t.notMatch(text, 'canaryqname')
  t.match(opened(request, (JSON.parse(text) as { data: never }).data), { code: 'invalid_parameters' })
})

t.test('a decision about a long text is read as a short one is', async (t) => {
  const scene = await stage(t)
  const state = 'The heron waits. '.repeat(200_000)
  const { answers } = (await scene.client.decisions.create({ model: 'sure', state, questions })) as { answers: object }
  t.same(Object.keys(answers), Object.keys(questions))
  t.equal(scene.calls.at(-1)?.state, state)
})
