import { usages } from '../plugins/usage/usage-rows.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import './fakes/unwatched.ts'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { use } from '../core/plugin.ts'
import type { SettingsInput } from '../core/settings.ts'
import openai from '../plugins/providers/openai.ts'
import { running, unhurried } from './environments.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'
import { until } from './until.ts'

interface Told {
  readonly event: string
  readonly data: Readonly<Record<string, any>>
}

const eventsIn = (text: string): readonly Told[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}'),
    }))

const models: SettingsInput['models'] = {
  single: { upstreams: [{ provider: 'house' }] },
  chained: {
    continues: true,
    upstreams: [
      { provider: 'house', priority: 1 },
      { provider: 'spare', weight: 3, priority: 2 },
    ],
  },
  drawing: { type: 'IMAGE', upstreams: [{ provider: 'house' }] },
  sealed: { standard: false, confidential: true, upstreams: [{ provider: 'house' }] },
}

const stage = async (t: Test, more: SettingsInput = {}) => {
  const house = await backend(
    t,
    scripted(() => [{ say: 'hello' }]),
  )
  const at = { baseUrl: `${house.url}/v1`, continuation: { go: true } }
  const upstreams = [use(openai, at, 'house'), use(openai, at, 'spare')]
  const settings = { ...unhurried, models, routing: { retries: 0 }, ...more }
  const gateway = await running(t, { ...memory({ network: true }), upstreams }, settings)
  const drill = async (body: object, key = gateway.key, signal?: AbortSignal) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) }
    return fetch(`${gateway.base}/admin/drill`, request)
  }
  const marks = async (body: object) => {
    const told = eventsIn(await (await drill(body)).text())
    return {
      told,
      marks: Object.fromEntries(
        told.filter(({ event }) => event === 'scene').map(({ data }) => [data['scene'], data['mark']]),
      ),
    }
  }
  return { ...gateway, house, drill, marks }
}

t.test('what the configuration does about a fault is what the drill says', async (t) => {
  const scene = await stage(t, { timeouts: { firstToken: 3_000, total: 15_000 } })
  const scenes = ['S01', 'S02', 'S04', 'S08', 'S14', 'C02']
  const alone = await scene.marks({ model: 'single', scenes })
  t.same(
    alone.marks,
    { S01: 'pass', S02: 'safe', S04: 'safe', S08: 'safe', S14: 'pass', C02: 'pass' },
    'one backend and no retry',
  )
  const chained = await scene.marks({ model: 'chained', scenes: [...scenes, 'S07'] })
  const { S07, ...quick } = chained.marks
  t.same(
    quick,
    { S01: 'pass', S02: 'pass', S04: 'pass', S08: 'pass', S14: 'pass', C02: 'pass' },
    'a second one that goes on',
  )
  const { told } = chained
  t.match(told[0], { event: 'begins', data: { model: 'chained', backends: 2, retries: 0, continues: true } })
  t.same(told[0]?.data['scenes'].length, scenes.length + 1)
  t.match(told.at(-1), { event: 'ended', data: { pass: 6, partial: 0, safe: 1, fail: 0 } })
  const sceneOf = (run: typeof alone, name: string) => run.told.find(({ data }) => data['scene'] === name)?.data
  t.match(sceneOf(chained, 'S08'), { asked: 2, caller: { status: 200, ending: 'whole', characters: 326 } })
  t.match(sceneOf(alone, 'S08'), { asked: 1, caller: { status: 200, ending: 'error' } })
  t.ok(sceneOf(alone, 'S08')?.['caller'].characters > 50, 'half of the answer was seen')
  t.match(sceneOf(alone, 'S04'), { asked: 0, caller: { status: 503, ending: 'error', first_token: null } })
  t.equal(S07, 'safe', 'no token comes in the time of the configuration')
  t.equal(sceneOf(chained, 'S07')?.['asked'], 2, 'either backend was waited for')
  const silent = sceneOf(chained, 'S07')?.['caller']
  t.ok(silent.ms >= 5_500, `the caller is told after ${silent.ms} ms of the configuration`)
  t.equal(silent.first_token, null)
  t.match(sceneOf(alone, 'C02'), { asked: 1, caller: { status: null, ending: 'left', ms: null } })

  await t.test('and nothing of the gateway was touched', async (t) => {
    t.equal(scene.house.asked.filter(({ method }) => method === 'POST').length, 0, 'no backend')
    t.same((await scene.gateway.supply({ store: MetadataStore }).store.list(usages, {})).rows, [], 'no usage')
    t.equal((await scene.gateway.keys.list(null, 10, 0)).total, 1, 'no key')
    t.notMatch(JSON.stringify(scene.logged), /S0\d|fault/, 'no log')
    t.notMatch(
      await (await scene.call('GET', '/metrics')).text(),
      /provider="(?:house|spare|place)[^\n]* [1-9]/,
      'no metric',
    )
    const { rows } = await scene.gateway.audit.list({ order: { by: 'at', descending: false } })
    const drills = rows.filter(({ row }) => row.action === 'drill')
    t.same(
      drills.map(({ row }) => [row.object, row.outcome]),
      [
        ['single', 'done'],
        ['chained', 'done'],
      ],
      'the audit alone',
    )
  })
})

t.test('a drill is for operators, and for what there is', async (t) => {
  const scene = await stage(t)
  const status = async (body: object, key?: string) => (await scene.drill(body, key)).status
  const keyOf = async (of: Parameters<typeof scene.gateway.keys.create>[0]) =>
    (await scene.gateway.keys.create(of)).credential
  const single = { model: 'single' }
  t.equal(await status(single, await keyOf({ organization: 'other' })), 403, 'another organisation')
  t.equal(await status(single, await keyOf({ scopes: ['api_key.read', 'chats.completion'] })), 403, 'another scope')
  t.equal(await status(single, 'sk_live_none'), 401)
  t.equal(await status({}), 400)
  t.equal(await status({ model: 'none' }), 404)
  t.match(await (await scene.drill({ model: 'drawing' })).json(), {
    status: 400,
    validator: { model: 'expected a chat model' },
  })
  t.equal(await status({ model: 'sealed' }), 400)
  t.match(await (await scene.drill({ ...single, scenes: ['S02', 'S99'] })).json(), {
    status: 400,
    validator: { scenes: /S01/ },
  })
  t.equal(await status({ ...single, scenes: [] }), 400)
  t.equal(await status({ ...single, pace: 1 }), 400)
})

/** Threads of this process that have not ended. */
const threads = new Set<Worker>()
/** Exit codes of ended threads: a thread that ends itself has 0, and a terminated thread has 1. */
const ends: number[] = []
process.on('worker', (thread: Worker) => {
  threads.add(thread)
  thread.once('exit', (code) => {
    threads.delete(thread)
    ends.push(code)
  })
})

t.test('one drill plays at a time, and ends with its reader', async (t) => {
  // The silent scene takes 12 s, and the thread is looked for at most 6 s: it does not end by itself in that time.
  const scene = await stage(t, { timeouts: { firstToken: 120_000, idle: 120_000, total: 120_000 } })
  const leaving = new AbortController()
  const first = await scene.drill({ model: 'single', scenes: ['S06'] }, scene.key, leaving.signal)
  t.equal(first.status, 200)
  const reader = first.body!.getReader()
  await reader.read()
  t.ok(await until(() => threads.size === 1), 'a thread plays')
  const second = await scene.drill({ model: 'single' })
  t.equal(second.status, 409)
  t.match(await second.json(), { error: 'A drill is under way in this process' })
  t.equal((await scene.drill({ model: 'single' })).status, 409, 'a refusal frees no place')
  leaving.abort()
  t.ok(await until(() => threads.size === 0, 6_000), 'the thread is gone')
  // The thread is gone a moment before its place is free.
  let third = second
  await until(async () => (third = await scene.drill({ model: 'single', scenes: ['S02'] })).status !== 409)
  t.equal(third.status, 200, 'the place is free')
  t.match(eventsIn(await third.text()).at(-1), { event: 'ended' })
  t.ok(await until(() => threads.size === 0), 'the thread of a whole drill is gone')
  t.same(ends.slice(-2), [0, 0], 'neither was terminated, which may end the process of the gateway')
})

t.test('a gateway that drains ends its drill at once', async (t) => {
  const scene = await stage(t)
  const answer = await scene.drill({ model: 'single', scenes: ['S06', 'S02'] })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let heard = (await reader.read()).value ?? ''
  t.ok(await until(() => threads.size === 1), 'a thread plays')
  t.equal(await scene.gateway.drain(60_000), 0)
  for (let result = await reader.read(); !result.done; result = await reader.read()) heard += result.value
  t.same(
    eventsIn(heard).map(({ event }) => event),
    ['begins'],
    'no result was waited for',
  )
  t.ok(await until(() => threads.size === 0), 'the thread is gone')
})

t.test('a gateway without a drill says so', async (t) => {
  const adapters = { ...memory(), parts: memory().parts.filter(({ name }) => name !== 'drill') }
  const gateway = await running(t, adapters)
  const answer = await gateway.call('POST', '/admin/drill', { model: 'rehearsal' })
  t.equal(answer.status, 400)
  t.match(await answer.json(), { error: 'This deployment is not set up for it', validator: { drill: /adapter/ } })
})
