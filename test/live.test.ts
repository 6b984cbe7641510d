import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { random } from '../adapters/memory/platform.ts'
import type { LiveRequest } from '../plugins/observers/live/live-request.ts'
import { Live, live } from '../plugins/observers/live/live.ts'
import { use } from '../core/plugin.ts'
import { Siblings } from '../core/ports/cluster.ts'
import { Clock } from '../core/ports/platform.ts'
import type { SettingsInput } from '../core/settings.ts'
import openai from '../plugins/providers/openai.ts'
import { type Running, running } from './environments.ts'
import { fitted, given } from './fitted.ts'
import { fakeClock, settled } from './fakes/clock.ts'
import { type Heard, listening } from './fakes/live-listener.ts'
import type { Recorded, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'
import { succeeds } from './helpers.ts'

const marker = 'XYZZY-a-text-of-the-caller'
const spoken = 'PLUGH-a-text-of-the-backend'
const broken: Take = { status: 500, body: JSON.stringify({ error: { message: spoken } }) }

interface Stage extends Running {
  readonly house: Recorded
  listen(key?: string, query?: string): Promise<Heard>
  keyOf(organization: string, scopes?: readonly string[]): Promise<string>
  chat(key: string, more?: object): Promise<Response>
}

const stage = async (t: Test, more: SettingsInput = {}): Promise<Stage> => {
  const house = await backend(
    t,
    scripted(() => [{ say: spoken }]),
  )
  const down = await backend(t, () => broken)
  const gateway = await running(
    t,
    {
      ...memory({ network: true }),
      upstreams: [
        use(openai, { baseUrl: `${house.url}/v1` }, 'house'),
        use(openai, { baseUrl: `${down.url}/v1` }, 'broken'),
      ],
    },
    {
      limits: { key: { requestsPerSecond: null }, organization: { requestsPerSecond: null } },
      models: {
        two: {
          upstreams: [
            { provider: 'broken', priority: 1 },
            { provider: 'house', priority: 2 },
          ],
        },
        one: { upstreams: [{ provider: 'house', weight: 3 }] },
      },
      ...more,
    },
  )
  return {
    ...gateway,
    house,
    listen: (key = gateway.key, query = '?organization=*') =>
      listening(t, `${gateway.base}/admin/live${query}`, { authorization: `Bearer ${key}` }),
    async keyOf(organization, scopes) {
      const power = scopes === undefined ? {} : { scopes: scopes as never }
      return (await gateway.gateway.keys.create({ organization, ...power })).credential
    },
    chat: (key, more = {}) =>
      gateway.call(
        'POST',
        '/v1/chat/completions',
        { model: 'one', messages: [{ role: 'user', content: marker }], ...more },
        { authorization: `Bearer ${key}` },
      ),
  }
}

/** The last state of each request, once one of them has ended and was counted. */
const ended = async (heard: Heard, fits: (request: LiveRequest) => boolean = () => true): Promise<LiveRequest> => {
  const found = () => [...heard.requests.values()].find((value) => value.ms !== null && fits(value))
  await heard.until(() => found() !== undefined)
  return found()!
}

t.test('a request is seen with its attempts, tokens and times, and without a word of anybody', async (t) => {
  const scene = await stage(t)
  const heard = await scene.listen()
  t.match(heard.first, { of: 'all', per_second: 50, processes: 1 })
  await (await scene.chat(scene.key, { model: 'two' })).text()
  const seen = await ended(heard, ({ tokens }) => tokens !== null)
  t.match(seen, {
    route: 'POST /v1/chat/completions',
    organization: 'default',
    key: /^key_/,
    model: 'two',
    backend: 'house',
    status: 200,
    tokens: { input: 19, output: 11, cached: 0, reasoning: 0 },
    attempts_left_out: 0,
    attempts: [
      { backend: 'broken', model: 'two', cause: 'first', outcome: 'failed', status: 500, streams: false },
      { backend: 'house', model: 'two', cause: 'next', outcome: 'answered', status: null, streams: false },
    ],
  })
  const [first, next] = seen.attempts
  t.ok(next!.from >= first!.from + first!.ms!, 'the second attempt begins behind the first')
  t.ok(seen.ms! >= next!.from)
  await (await scene.chat(scene.key, { stream: true })).text()
  const streamed = await ended(heard, ({ first_token }) => first_token !== null)
  t.match(streamed.attempts, [{ backend: 'house', streams: true, outcome: 'answered' }])
  t.notMatch(heard.text(), marker)
  t.notMatch(heard.text(), spoken)
  t.notMatch(heard.text(), scene.key, 'nor a key')
})

t.test('a request is seen while it runs', async (t) => {
  let answer = () => {}
  const slow = await backend(t, async (request) => {
    await new Promise<void>((resolve) => (answer = resolve))
    return scripted(() => [{ say: 'late' }])(request)
  })
  const gateway = await running(
    t,
    {
      ...memory({ network: true }),
      upstreams: [use(openai, { baseUrl: `${slow.url}/v1` }, 'slow')],
    },
    { models: { one: { upstreams: [{ provider: 'slow' }] } } },
  )
  const heard = await listening(t, `${gateway.base}/admin/live`, { authorization: `Bearer ${gateway.key}` })
  const call = gateway.call('POST', '/v1/chat/completions', {
    model: 'one',
    messages: [{ role: 'user', content: 'x' }],
  })
  const waits = () => [...heard.requests.values()].find(({ attempts }) => attempts.length > 0)
  await heard.until(() => waits() !== undefined)
  t.match(waits(), { ms: null, status: null, attempts: [{ backend: 'slow', ms: null, outcome: null }] })
  answer()
  await (await call).text()
  t.match(await ended(heard), { status: 200 })
})

t.test('who may listen, and to what', async (t) => {
  const scene = await stage(t)
  const other = await scene.keyOf('other')
  const plain = await scene.keyOf('default', ['chats.completion'])
  const status = async (key: string | null, query = '') =>
    (
      await fetch(
        `${scene.base}/admin/live${query}`,
        key === null ? {} : { headers: { authorization: `Bearer ${key}` } },
      )
    ).status
  t.equal(await status(null), 401)
  t.equal(await status(plain), 403, 'a key without the scope')
  t.equal(await status(other, '?organization=*'), 403, 'only operators hear all')
  t.equal(await status(other, '?organization=default'), 403)
  t.equal(await status(scene.key, '?seconds=301'), 400)
  const [all, own, theirs] = [await scene.listen(), await scene.listen(scene.key, ''), await scene.listen(other, '')]
  t.match(theirs.first, { of: 'organization' })
  await (await scene.chat(scene.key)).text()
  await (await scene.chat(other)).text()
  await scene.call('GET', '/admin/usage')
  await scene.call('GET', '/v1/models', undefined, { authorization: 'Bearer sk_live_wrong' })
  await all.until(() => [...all.requests.values()].filter(({ ms }) => ms !== null).length === 3)
  const organizations = (heard: Heard) => [...heard.requests.values()].map(({ organization }) => organization)
  t.same(organizations(all).sort(), ['default', null, 'other'].sort(), 'a refused key is of no organisation')
  t.same(organizations(own), ['default'])
  t.same(organizations(theirs), ['other'])
  const refused = [...all.requests.values()].find(({ organization }) => organization === null)
  t.match(refused, { status: 401, key: null, route: 'GET /v1/models' })
  t.notMatch(all.text(), '/admin/', 'administration is not shown')
})

t.test('a key that is revoked, or loses its scope or its gateway, hears no more', async (t) => {
  const scene = await stage(t)
  const { credential, row } = await scene.gateway.keys.create({})
  const heard = await scene.listen(credential, '')
  await scene.gateway.keys.revoke(row.id, null)
  await heard.until(() => heard.isOver(), 60_000)
  const narrowed = await scene.gateway.keys.create({ scopes: ['api_key.read', 'models.read'] })
  const third = await scene.listen(narrowed.credential, '')
  await scene.gateway.keys.change(narrowed.row.id, null, { scopes: ['models.read'] })
  await third.until(() => third.isOver(), 60_000)
  const second = await scene.listen(scene.key, '?seconds=1')
  await second.until(() => second.isOver(), 60_000)
  const last = await scene.listen()
  await scene.gateway.drain(1)
  await last.until(() => last.isOver(), 60_000)
})

const made = (clock: ReturnType<typeof fakeClock>, siblings: Siblings) =>
  fitted(
    given(Clock, 'fake', () => clock),
    use(random),
    given(Siblings, 'fake', () => siblings),
    use(live),
  ).supply({ live: Live }).live

const request = (id: string, organization = 'default') => ({
  id,
  at: 1_800_000_000_000,
  route: 'POST /x',
  organization,
  key: 'key_1',
})

const alone: Siblings = { measured: async () => [] }

/** Takes the first so many news, and lets time pass meanwhile. */
const heardBy = (live: Live, part: string | null, controller: AbortController) => {
  const news: { ids: string[]; passed: number }[] = []
  const over = (async () => {
    for await (const { requests, passed } of live.listen(part, 1_000, controller.signal))
      news.push({ ids: requests.map(({ id }) => id), passed })
  })()
  return { news, over }
}

t.test('a second shows fifty requests, and tells of the others', async (t) => {
  const clock = fakeClock()
  const requests = made(clock, alone)
  const controller = new AbortController()
  const { news, over } = heardBy(requests, null, controller)
  await settled()
  const traces = Array.from({ length: 80 }, (_, at) => requests.begin(request(`r${at}`)))
  t.equal(traces.filter((trace) => trace !== null).length, 50)
  await clock.pass(600)
  t.equal(news.flatMap(({ ids }) => ids).length, 50)
  t.equal(
    news.reduce((sum, { passed }) => sum + passed, 0),
    30,
  )
  controller.abort()
  await over
})

t.test('nothing is kept of a request when nobody listens', async (t) => {
  const clock = fakeClock()
  const requests = made(clock, alone)
  t.equal(requests.isHeard(), false)
  const controller = new AbortController()
  const { over } = heardBy(requests, null, controller)
  await settled()
  t.equal(requests.isHeard(), true)
  controller.abort()
  await over
  await clock.pass(600)
  t.equal(requests.isHeard(), false)
  t.equal(clock.armed(), 0, 'and no alarm goes on')
})

t.test('a listener that reads nothing holds nobody back, and is left a sample', async (t) => {
  const clock = fakeClock()
  const requests = made(clock, alone)
  const controller = new AbortController()
  const stream = requests.listen(null, 1_000, controller.signal)[Symbol.asyncIterator]()
  await stream.next()
  let begun = 0
  for (let second = 0; second < 10; second++) {
    for (let at = 0; at < 50; at++) {
      requests.begin({ ...request(`r${begun++}`), at: 1_800_000_000_000 + second * 1000 })
    }
    await clock.pass(1_000)
  }
  const { value } = await stream.next()
  t.equal(value.requests.length, 200, 'what waits is bounded')
  t.equal(value.passed, begun - 200)
  controller.abort()
  await stream.return?.()
})

t.test('the number of listeners is bounded', async (t) => {
  const clock = fakeClock()
  const requests = made(clock, alone)
  const controller = new AbortController()
  const join = async (part: string | null) => {
    const stream = requests.listen(part, 1_000, controller.signal)[Symbol.asyncIterator]()
    return succeeds(stream.next())
  }
  const joined = async (part: string | null, count: number) =>
    (await Promise.all(Array.from({ length: count }, () => join(part)))).filter(Boolean).length
  t.equal(await joined('one', 65), 64, 'of one organisation')
  t.equal(await joined(null, 64), 64)
  t.equal(await joined('two', 1), 0, 'and of the process')
  controller.abort()
})

t.test('a listener of one process hears the others, each with its share', async (t) => {
  const clock = fakeClock()
  const answers: Map<string, (value: unknown) => unknown>[] = []
  const member = (): Siblings => {
    const own = new Map<string, (value: unknown) => unknown>()
    answers.push(own)
    return {
      measured: async () => [],
      ask: async (question, value) =>
        answers.flatMap((answer) =>
          answer === own ? [] : [answer.get(question)?.(JSON.parse(JSON.stringify(value))) ?? null],
        ),
      answer: (question, give) => void own.set(question, give),
    }
  }
  const [here, there] = [made(clock, member()), made(clock, member())]
  const controller = new AbortController()
  const { news, over } = heardBy(here, 'mine', controller)
  await settled()
  t.equal(here.processes(), 2)
  t.equal(there.isHeard(), true, 'the other one follows its requests')
  for (let at = 0; at < 30; at++) there.begin(request(`t${at}`, 'mine'))
  there.begin(request('foreign', 'other'))
  here.begin(request('h', 'mine'))
  await clock.pass(600)
  const ids = news.flatMap(({ ids }) => ids)
  t.equal(ids.filter((id) => id.startsWith('t')).length, 25, 'half of fifty')
  t.ok(ids.includes('h'))
  t.notOk(ids.includes('foreign'))
  t.equal(
    news.reduce((sum, { passed }) => sum + passed, 0),
    5,
  )
  controller.abort()
  await over
  await clock.pass(600)
  t.equal(there.isHeard(), false, 'and no longer than the listener is there')
  for (const requests of [here, there]) requests.dispose()
})
