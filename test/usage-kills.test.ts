import './fakes/unwatched.ts'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { recorded } from './fakes/recorded.ts'
import { type Served, served } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { chance } from './lab/hunt/damage.ts'
import { until } from './until.ts'
import type { SettingsInput } from '../core/settings.ts'
import { onWay } from './ways.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 4_242)
const rounds = Number(process.env['SEALGATE_ROUNDS'] ?? 2)
const callsOfRound = 40

const key = `sk_live_${'5'.repeat(43)}`
/** Millionths for a token. */
const price = { input: 1_000, output: 1 }

/** A backend with a price of its own for each call: the number of the call is the number of its output tokens. */
const billing = async (t: Test) => {
  const answered = new Set<number>()
  const backend = await recorded(async ({ path, body }) => {
    const headers = { 'content-type': 'application/json' }
    if (path.endsWith('/models')) return { headers, body: '{"data":[]}' }
    const nth = Number(JSON.parse(body.toString()).messages[0].content)
    answered.add(nth)
    // On a quick machine every call would be over before a process is killed.
    if (nth % 4 === 0) await sleep(100)
    const usage = { prompt_tokens: 1, completion_tokens: nth, total_tokens: nth + 1 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'word' }, finish_reason: 'stop' }]
    return {
      headers,
      body: JSON.stringify({ id: 'c', created: 1, model: 'm', object: 'chat.completion', choices, usage }),
    }
  })
  t.teardown(() => backend.close())
  return { url: backend.url, answered }
}

interface Books {
  readonly requests: number
  readonly estimated: number
  readonly output: number
  readonly cost: number
  readonly estimated_cost: number
}

/** Calls and kills in rounds. */
const killed = async (t: Test, rounds: number, routing: NonNullable<SettingsInput['routing']>): Promise<void> => {
  const draw = chance(seed)
  const backend = await billing(t)
  const folder = await folderOf(t)
  const config = join(folder, 'config.json')
  const none = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null, tokensPerDay: null }
  const tariff = { prompt_price_per_k: price.input / 1000, completion_price_per_k: price.output / 1000 }
  await writeFile(
    config,
    JSON.stringify({
      enclave: { connect: ['/nowhere'] },
      tools: {},
      surfaces: ['chat', 'admin'],
      providers: { main: { use: 'openai', baseUrl: backend.url, apiKey: 'k' } },
      models: { m: { upstreams: [{ provider: 'main' }], price_config: { standard: { eu: tariff } } } },
      ...onWay({ routing: { retries: 0, ...routing } }),
      limits: { key: none, organization: none },
    }),
  )
  const env = { SEALGATE_CONFIG: config, SEALGATE_DATA: join(folder, 'data'), SEALGATE_KEY: key }
  const replicas: Served[] = [await served(env)]
  replicas.push(...(await Promise.all([served(env), served(env)])))
  t.teardown(() => Promise.all(replicas.map((replica) => replica.stop('SIGKILL'))))
  const ask = (at: number, path: string, body?: object) =>
    fetch(replicas[at]!.base + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-sealgate-tags': 'part=one' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })

  let nth = 0
  /** Calls with a whole answer. */
  const told = new Set<number>()
  const call = async (at: number): Promise<boolean> => {
    const own = ++nth
    const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: String(own) }] }
    try {
      const answer = await ask(at, '/std/chat/completions', body)
      await answer.json()
      if (answer.status !== 200) return false
      told.add(own)
      return true
    } catch {
      return false
    }
  }
  const books = async (by: 'model' | 'backend' | 'tag') => {
    const { sums } = ((await (await ask(0, `/admin/usage/sums?by=${by}`)).json()) as any).data
    const [sum = { requests: 0, output: 0, estimated: 0, cost: 0, estimated_cost: 0 }] = sums
    t.ok(sums.length <= 1)
    return sum as Books
  }

  for (let round = 0; round < rounds; round++) {
    const victims = [draw(3), draw(3)]
    for (const victim of new Set(victims)) {
      const calls = Array.from({ length: callsOfRound }, (_, at) => call(at % 3))
      // A random number of them has been answered when the process is killed.
      const some = draw(callsOfRound)
      let ended = 0
      await new Promise<void>((resolve) => {
        if (some === 0) resolve()
        for (const call of calls) void call.then(() => ++ended >= Math.min(some, callsOfRound / 2) && resolve())
      })
      await replicas[victim]!.stop('SIGKILL')
      await Promise.all(calls)
      replicas[victim] = await served(env)
    }
    const least = new Set([...told, ...backend.answered])
    t.ok(await until(async () => (await books('model')).requests >= least.size, 60_000), 'no call is lost')
    await until(async () => (await readdir(join(folder, 'data/usage'))).length <= 3, 30_000)
    // Each answered call has its own number of tokens: their sum shows that none of them is missing, nor there twice.
    const exact = [...told].reduce((all, own) => all + own, 0)
    const most = [...least].reduce((all, own) => all + own, 0)
    const countedIn = ({ requests, estimated }: Books): number => requests - estimated
    const outputsOf = (sum: Books): number =>
      Math.round((sum.cost - sum.estimated_cost) * 1e6) - countedIn(sum) * price.input
    // What a process left that was killed comes in after what it had opened.
    await until(async () => outputsOf(await books('model')) >= exact, 30_000)
    const sum = await books('model')
    const lost = nth - told.size
    t.ok(sum.requests <= nth, `${sum.requests} of ${nth} calls are counted, ${lost} of them had no whole answer`)
    t.ok(sum.estimated <= lost, `${sum.estimated} are estimates`)
    const [counted, outputs] = [countedIn(sum), outputsOf(sum)]
    t.ok(outputs >= exact && outputs <= most, `${outputs} lies between ${exact} and ${most}`)
    if (counted === told.size) t.equal(outputs, exact, 'the books are the bill')
    t.ok(await until(async () => (await books('tag')).requests === sum.requests, 30_000), 'under its tag, too')
    t.ok((await books('backend')).requests >= counted)
  }
  t.ok(nth > told.size, 'a process was killed in the midst of calls')
}

t.test('whatever is killed, every call is in the books once', { timeout: 170_000 }, (t) => killed(t, rounds, {}))

t.test('so is every call where none goes straight', { timeout: 170_000 }, (t) =>
  killed(t, Math.ceil(rounds / 2), { straight: false }),
)
