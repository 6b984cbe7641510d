import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { everyFault } from '../adapters/production/config/every-fault.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import type { SettingsInput } from '../core/settings.ts'
import { use } from '../core/plugin.ts'
import { Observer } from '../core/ports/observer.ts'
import openai from '../plugins/providers/openai.ts'
import useLite from '../plugins/providers/use-lite.ts'
import words from '../plugins/guards/words.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { backend } from './contracts/stage.ts'
import { running, unhurried } from './environments.ts'
import { toolHouse } from './fakes/agent.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const hello = scripted(() => [{ say: 'Hello.' }])

const routes = [
  { when: 'easy', model: 'small' },
  { when: 'hard', model: 'large' },
  { when: 'code', model: 'coder' },
  { when: 'vision', model: 'seer' },
  { when: 'long', model: 'wide' },
]
/** The model is loaded with its first decision. */
const patience = 20_000
const auto = { decide: { with: 'use-lite', patience }, routes, otherwise: 'small', long: 2_000 }

const price = (per: number) => ({ standard: { small: { prompt_price_per_k: per, completion_price_per_k: per } } })

/** A gateway with six models of one backend, and a real model that decides. */
const opened = async (
  t: Test,
  rule: object = {},
  { models = {}, ...settings }: SettingsInput = {},
  play: (request: Asked) => Take = hello,
) => {
  const behind = await backend(t, play)
  const names = ['small', 'large', 'coder', 'seer', 'wide']
  const plain = Object.fromEntries(names.map((name) => [name, { upstreams: [{ provider: 'openai', model: name }] }]))
  const gateway = await running(
    t,
    {
      ...memory(),
      fetch: use(doors),
      parts: [...memory().parts, watching],
      upstreams: [use(useLite), use(openai, { baseUrl: `${behind.url}/v1` })],
      guards: [use(words, { lists: { projects: { words: ['blue heron'], then: 'refuse' } } })],
    },
    {
      ...unhurried,
      models: {
        ...plain,
        'use-lite': { type: 'DECISION', upstreams: [{ provider: 'use-lite' }] },
        judge: { decide: true, upstreams: [{ provider: 'openai', model: 'judge' }] },
        auto: { ...auto, ...rule },
        ...models,
      },
      ...settings,
    } as SettingsInput,
  )
  const chat = async (content: unknown, more: object = {}, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content }]
    const answer = await gateway.call('POST', '/v1/chat/completions', { model: 'auto', messages, ...more }, headers)
    const body = (await answer.json()) as any
    return { status: answer.status, model: body.model, why: answer.headers.get('x-sealgate-rule'), body }
  }
  return { ...gateway, behind, chat, asked: () => behind.asked.map(({ body }) => JSON.parse(body.toString()).model) }
}

/** What traces are told of rules. */
const traced: string[] = []
const ignored = () => {}
const watching = given(Observer, 'watching', () => ({
  isWatching: () => true,
  begin: () => ({
    ...{ chose: ignored, broke: ignored, began: ignored, used: ignored, ended: ignored, asks: () => ignored },
    because: (why) => void traced.push(why),
  }),
}))

const pixel = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

t.test('a model that decides chooses the model, and each answer says why', async (t) => {
  const doors = await opened(t)
  t.match(await doors.chat('Hello, how are you today?'), {
    status: 200,
    model: 'small',
    why: /^small; easy [01]\.\d\d$/,
  })
  t.match(await doors.chat('Write a Python function that reverses a linked list, and its unit tests.'), {
    model: 'coder',
    why: /^coder; code [01]\.\d\d$/,
  })
  t.match(await doors.chat('Prove by careful mathematical reasoning that there are infinitely many primes.'), {
    model: 'large',
    why: /^large; hard [01]\.\d\d$/,
  })
  t.match(await doors.chat([{ type: 'text', text: 'What is this?' }, pixel]), { model: 'seer', why: 'seer; vision' })
  t.match(await doors.chat('word '.repeat(3_000)), { model: 'wide', why: 'wide; long' })
  t.same(traced.slice(-2), ['seer; vision', 'wide; long'], 'the trace has the reason')
  t.same(doors.asked(), ['small', 'coder', 'large', 'seer', 'wide'], 'each was asked once, by its own name')
  const requests = () => doors.logged.filter(({ event }) => event === 'request').map(({ facts }) => facts['model'])
  t.ok(await until(() => requests().length === 5))
  t.same(requests(), ['small', 'coder', 'large', 'seer', 'wide'], 'the log tells the chosen model')
})

t.test('a conversation keeps its kind, but for what it shows', async (t) => {
  const doors = await opened(t)
  const first = { role: 'user', content: 'Write a Python function that reverses a linked list.' }
  const message = { role: 'assistant', content: 'Done.' }
  const turn = async (content: unknown) => doors.chat('', { messages: [first, message, { role: 'user', content }] })
  t.match(await doors.chat(first.content), { model: 'coder' })
  t.match(await turn('Thanks, that is nice. How are you?'), { model: 'coder', why: 'coder; kept code' })
  t.match(await turn([{ type: 'text', text: 'And this?' }, pixel]), { model: 'seer', why: 'seer; vision' })
  t.match(await turn('Thanks.'), { model: 'coder', why: 'coder; kept code' })
  const other = await doors.gateway.keys.create({ organization: 'other' })
  const elsewhere = await doors.chat('', { messages: [first] }, { authorization: `Bearer ${other.credential}` })
  t.match(elsewhere, { why: /^coder; code [01]/ }, 'another organisation shares nothing')
})

t.test('where nothing is decided, the named model serves', async (t) => {
  const failing = await opened(t, { decide: { with: 'judge' } }, { routing: { retries: 0 } }, (request) =>
    request.body.includes('"judge"') ? { status: 500, body: '{}' } : hello(request),
  )
  t.match(await failing.chat('Prove it.'), { status: 200, model: 'small', why: 'small; undecided' })
  t.match(
    failing.logged.find(({ event }) => event === 'rule.undecided'),
    { facts: { model: 'judge', status: 503 } },
  )
  t.notMatch(JSON.stringify(failing.logged), 'Prove it')
  const silent = await opened(t, { decide: { with: 'judge', patience: 200 } }, {}, (request) =>
    request.body.includes('"judge"') ? { body: '', pace: 'silent' } : hello(request),
  )
  const began = performance.now()
  t.match(await silent.chat('Prove it.'), { status: 200, why: 'small; undecided' })
  t.ok(performance.now() - began < 20_000, 'no chat waits for long')
  const unsure = await opened(t, { decide: { with: 'use-lite', patience, below: 1 } })
  t.match(await unsure.chat('Compare both plans.'), { why: /^small; unsure / })
  t.match(await unsure.chat('Compare both plans.'), { why: /unsure/ }, 'and nothing is kept')
})

t.test('no rule goes above a budget', async (t) => {
  const models = {
    small: { upstreams: [{ provider: 'openai', model: 'small' }], price_config: price(0.000001) },
    large: { upstreams: [{ provider: 'openai', model: 'large' }], price_config: price(1_000) },
    'use-lite': { type: 'DECISION', upstreams: [{ provider: 'use-lite' }], price_config: price(0) },
  }
  const rule = { routes: [{ when: 'hard', model: 'large' }] }
  const doors = await opened(t, rule, { models, prices: { currency: 'EUR' } } as SettingsInput)
  const { credential } = await doors.gateway.keys.create({ limits: { costPerDay: 1 } })
  const asking = { authorization: `Bearer ${credential}` }
  const hard = 'Prove by careful mathematical reasoning that there are infinitely many primes.'
  t.match(await doors.chat(hard, {}, asking), { status: 200, model: 'small', why: /^small; budget, not hard [01]/ })
  t.notOk(doors.asked().includes('large'))
  t.match(await doors.chat(hard), { model: 'large' }, 'a key with room gets it')
})

t.test('keys, guards, counts and lists', async (t) => {
  const small = { id: 7, upstreams: [{ provider: 'openai', model: 'small' }] }
  const doors = await opened(t, {}, { models: { small } })
  const keyed = async (models: readonly string[]) => ({
    authorization: `Bearer ${(await doors.gateway.keys.create({ models })).credential}`,
  })
  t.equal((await doors.chat('Hi', {}, await keyed(['small']))).status, 404, 'a key needs the rule')
  t.equal((await doors.chat('Hi', {}, await keyed(['auto']))).status, 404, 'and the model')
  const narrow = await doors.chat(
    'Prove by careful mathematical reasoning that primes never end.',
    {},
    await keyed(['auto', 'small']),
  )
  t.match(narrow, { status: 200, why: /^small; hard [01]\.\d\d, not for this key$/ })
  const before = doors.behind.asked.length
  t.equal((await doors.chat('Where is the blue heron?')).status, 400, 'guards see the chat before the decision')
  t.equal(doors.behind.asked.length, before)
  const count = await doors.call('POST', '/v1/responses/input_tokens', { model: 'auto', input: 'Hi' })
  t.equal(count.status, 200)
  const { data } = (await (await doors.call('GET', '/v1/models')).json()) as { data: { id: string }[] }
  t.ok(data.some(({ id }) => id === 'auto'))
  t.equal((await doors.call('GET', '/v1/models/auto')).status, 200)
  const listed = async (query = '', headers = {}) => {
    const answer = await doors.call('GET', `/std/models${query}`, undefined, headers)
    return ((await answer.json()) as { data: { model: string; id: number; usage_mode: string }[] }).data
  }
  const catalog = await listed('?type=CHAT')
  t.match(catalog.at(-1), { model: 'auto', usage_mode: 'standard' })
  t.equal(new Set(catalog.map(({ id }) => id)).size, catalog.length, 'a rule has an id of its own')
  t.same(await listed('?type=IMAGE'), [])
  const narrowed = await listed('', await keyed(['small']))
  t.same(
    narrowed.map(({ model }) => model),
    ['small'],
    'a key without the rule learns of none',
  )
  const deciding = { model: 'auto', state: 1, questions: { q: { type: 'noul' } } }
  const decided = await doors.call('POST', '/compat/v1/decision', deciding)
  t.match([decided.status, await decided.json()], [400, { error: /only chats: send it to \/std\/chat\/completions/ }])
  const unknown = await doors.call('POST', '/compat/v1/decision', deciding, await keyed(['small']))
  t.equal(unknown.status, 404, 'nor by a decision')
  const streamed = await doors.call('POST', '/v1/messages', {
    model: 'auto',
    max_tokens: 9,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  t.match(streamed.headers.get('x-sealgate-rule'), /^small; easy/)
  await streamed.text()
  const sealed = await doors.call('POST', '/v1/embeddings', { model: 'auto', input: 'Hi' })
  t.equal(sealed.status, 404, 'a rule serves chats alone')
})

t.test('without another model, the model of the last route serves what is undecided', async (t) => {
  const doors = await opened(
    t,
    { decide: { with: 'judge' }, otherwise: undefined },
    { routing: { retries: 0 } },
    (request) => (request.body.includes('"judge"') ? { status: 500, body: '{}' } : hello(request)),
  )
  t.match(await doors.chat('Prove it.'), { status: 200, model: 'wide', why: 'wide; undecided' })
})

t.test('a sealed chat with a rule is refused with the reason, and a key without the rule learns of none', async (t) => {
  const upstreams = [{ provider: 'rehearsal' }]
  const models = {
    small: { confidential: true, upstreams },
    judge: { type: 'DECISION', confidential: true, upstreams },
    auto: { decide: { with: 'judge' }, routes: [{ when: 'easy', model: 'small' }] },
  } as const
  const house = await toolHouse(t, [], { settings: { models } as unknown as SettingsInput })
  const asks = async (model: string, apiKey = house.key) => {
    const client = connect({ baseUrl: house.base, apiKey, policy: { allowInsecureDev: true } })
    return client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] })
  }
  const failed = (code: string) => ({ name: 'SealgateError', fault: 'failed', code, field: 'model' })
  t.ok(await asks('small'))
  await t.rejects(asks('auto'), failed('model_is_rule'))
  const narrow = await house.gateway.keys.create({ models: ['small'] })
  await t.rejects(asks('auto', narrow.credential), failed('unknown_model'))
})

t.test('a wrong rule is refused with its place and its mend', async (t) => {
  const config = (rule: object) => ({
    providers: { talk: { use: 'rehearsal' } },
    models: {
      small: { upstreams: [{ provider: 'talk', model: 'rehearsal' }] },
      'use-lite': { type: 'DECISION', decide: true, upstreams: [{ provider: 'talk', model: 'rehearsal' }] },
      auto: { decide: { with: 'use-lite' }, routes: [{ when: 'easy', model: 'small' }], otherwise: 'small', ...rule },
    },
  })
  const faults = async (written: object) => {
    const found = await everyFault(written, {})
    return JSON.stringify(found)
  }
  t.equal(await faults(config({})), '[]')
  for (const [place, rule] of Object.entries({
    'models.auto.routes.0.model': { routes: [{ when: 'easy', model: 'nobody' }] },
    'models.auto.routes.0.when': { routes: [{ when: 'sunny', model: 'small' }] },
    'models.auto.otherwise': { otherwise: 'nobody' },
    'models.auto.decide.with': { decide: { with: 'nobody' } },
    'models.auto.decide.below': { decide: { with: 'use-lite', below: 2 } },
  }))
    t.match(await faults(config(rule)), place, place)
  t.match(await faults({ ...config({}), rules: {} }), 'rules is not a known setting', 'rules stand among the models')
})
