import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { recorded } from './fakes/recorded.ts'
import { type RedisServer, startRedis } from './fakes/redis.ts'
import { type Served, served } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { chance } from './lab/hunt/damage.ts'
import { until } from './until.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 20_301)
/** Calls at once: a thousand by night, and a sample of them by day. */
const crowd = Number(process.env['SEALGATE_CALLS'] ?? 150)
const rounds = Number(process.env['SEALGATE_ROUNDS'] ?? 1)

/** Millionths for a token. */
const price = { input: 10, cached: 2, output: 20, reasoning: 30 }
const perK = (millionths: number) => millionths / 1000
/** More than any call costs: 100 tokens of a prompt that is estimated higher, and as many of an answer. */
const reservation = 250 * price.input + 100 * price.reasoning
/** What a call costs on average, about. */
const usual = 1_500

interface Bill {
  /** Millionths of calls whose use the backend told. */
  told: number
  answers: number
  /** The number of streams of the model `m`. The first and then each fourth stream breaks before its use is told. */
  streams: number
  cut: number
  /** Answers that went on elsewhere. */
  rescued: number
}

/**
 * A backend that bills: every answer has another use, and each fourth stream breaks before it tells it. Those of the model `r`
 * all break after they have told it, and are continued under another address.
 */
const billing = async (t: Test) => {
  const draw = chance(seed)
  const bills = new Map<string, Bill>()
  const billOf = (name: string): Bill => {
    let bill = bills.get(name)
    if (bill === undefined) bills.set(name, (bill = { told: 0, answers: 0, streams: 0, cut: 0, rescued: 0 }))
    return bill
  }
  const usageOf = (prompt: number, output: number) => {
    const [cached, reasoning] = [draw(prompt / 2), draw(output)]
    const usage = {
      ...{ prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    }
    const read = (prompt - cached) * price.input + cached * price.cached
    return { usage, cost: read + (output - reasoning) * price.output + reasoning * price.reasoning }
  }
  const backend = await recorded(({ path, body }) => {
    if (path.endsWith('/models')) return { headers: { 'content-type': 'application/json' }, body: '{"data":[]}' }
    const { stream, messages, model } = JSON.parse(body.toString())
    const bill = billOf(messages[0].content.split(' ')[0])
    const head = { id: 'c', created: 1, model: 'm' }
    const event = (more: object) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`
    const broken = (choices: readonly object[], more: object = {}) => {
      const begun = event({ choices, ...more })
      const headers = { 'content-type': 'text/event-stream' }
      return { headers, body: `${begun}data: `, pace: { cut: begun.length } }
    }
    const word = [{ index: 0, delta: { content: 'word' }, finish_reason: null }]
    if (model === 'r' && !path.startsWith('/second/')) {
      bill.answers++
      const begun = usageOf(40, 5)
      bill.told += begun.cost
      return broken(word, { usage: begun.usage })
    }
    const { usage, cost } = usageOf(100, 5 + draw(50))
    if (model === 'r') bill.rescued++
    else bill.answers++
    if (!stream) {
      bill.told += cost
      const choices = [{ index: 0, message: { role: 'assistant', content: 'word' }, finish_reason: 'stop' }]
      const answer = { ...head, object: 'chat.completion', choices, usage }
      return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
    }
    if (model === 'm' && bill.streams++ % 4 === 0) {
      bill.cut++
      return broken(word)
    }
    bill.told += cost
    const last = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    const headers = { 'content-type': 'text/event-stream' }
    return { headers, body: `${event({ choices: word })}${last}${event({ choices: [], usage })}data: [DONE]\n\n` }
  })
  t.teardown(() => backend.close())
  return { url: backend.url, billOf }
}

const key = `sk_live_${'4'.repeat(43)}`

const house = async (t: Test, redis: RedisServer) => {
  const backend = await billing(t)
  const folder = await folderOf(t)
  const config = join(folder, 'config.json')
  const none = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null, tokensPerDay: null }
  const tariff = {
    prompt_price_per_k: perK(price.input),
    cached_price_per_k: perK(price.cached),
    completion_price_per_k: perK(price.output),
    reasoning_price_per_k: perK(price.reasoning),
  }
  const price_config = { standard: { eu: tariff } }
  await writeFile(
    config,
    JSON.stringify({
      enclave: { connect: ['/nowhere'] },
      tools: {},
      surfaces: ['chat', 'admin'],
      providers: {
        main: { use: 'vllm', baseUrl: backend.url, apiKey: 'k' },
        second: { use: 'vllm', baseUrl: `${backend.url}/second`, apiKey: 'k' },
      },
      models: {
        m: { upstreams: [{ provider: 'main' }], price_config },
        r: { upstreams: [{ provider: 'main' }, { provider: 'second', priority: 2 }], continues: true, price_config },
      },
      routing: { retries: 0, breaker: { faults: 100_000, ratio: 1 } },
      limits: { redis: redis.url, patience: 2_000, key: none, organization: none },
    }),
  )
  const env = { SEALGATE_CONFIG: config, SEALGATE_DATA: join(folder, 'data'), SEALGATE_KEY: key }
  // The first one makes the file of the rows.
  const replicas: Served[] = [await served(env)]
  replicas.push(...(await Promise.all([served(env), served(env)])))
  t.teardown(() => Promise.all(replicas.map((replica) => replica.stop('SIGKILL'))))

  const send = (at: number, path: string, body: object | null, credential = key) =>
    fetch(replicas[at]!.base + path, {
      method: body === null ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      ...(body !== null && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })

  /** A key that may spend so many millionths in a day. */
  const payer = async (name: string, millionths: number) => {
    const made = await send(0, '/admin/keys', { limits: { ...none, costPerDay: millionths / 1e6 } })
    const { id, key: credential } = ((await made.json()) as any).data
    const call = async (at: number, stream: boolean, model = 'm'): Promise<number> => {
      const messages = [{ role: 'user', content: `${name} ${'x'.repeat(600)}` }]
      const answer = await send(at, '/std/chat/completions', { model, stream, max_tokens: 100, messages }, credential)
      await answer.text().catch(() => '')
      return answer.status
    }
    const books = async () => {
      const { usage } = ((await (await send(0, `/admin/usage?key=${id}`, null)).json()) as any).data
      const sum = (field: string) => usage.reduce((sum: number, row: any) => sum + row[field], 0)
      const [cost, guessed] = [sum('cost'), sum('estimated_cost')].map((amount) => Math.round(amount * 1e6)) as [
        number,
        number,
      ]
      return { requests: sum('requests'), estimated: sum('estimated'), told: cost - guessed, guessed }
    }
    return { call, books, bill: backend.billOf(name) }
  }
  return { replicas, payer, again: async (at: number) => void (replicas[at] = await served(env)) }
}

const server = await startRedis({ steer: true })
t.teardown(() => server?.close())
const skip = server === null && 'there is no redis-server'

/** Every fifth call breaks and is rescued. */
const kindOf = (at: number): readonly [stream: boolean, model: string] =>
  at % 5 === 0 ? [true, 'r'] : [at % 2 === 0, 'm']

t.test('a crowd at three processes spends its budget, no more, and the books are the bill', { skip }, async (t) => {
  const gateway = await house(t, server!)
  await crowded(t, gateway)
  await withoutRedis(t, gateway, server!)
})

type House = Awaited<ReturnType<typeof house>>

const crowded = async (t: Test, { payer }: House) => {
  const budget = (crowd / 10) * usual
  const { call, books, bill } = await payer('crowd', budget)
  const statuses = await Promise.all(Array.from({ length: crowd }, (_, at) => call(at % 3, ...kindOf(at))))
  t.same([...new Set(statuses)].sort(), [200, 429], 'served or refused')
  t.equal(statuses.filter((status) => status === 200).length, bill.answers, 'who is refused costs nothing')
  t.ok(await until(async () => (await books()).requests === bill.answers))
  const first = await books()
  t.ok(first.told + first.guessed <= budget + reservation, `${first.told + first.guessed} of ${budget}`)

  // What was reserved beyond the cost is given back: the rest is spent one call after the other.
  let refusals = 0
  for (let at = 0; refusals < 3; at++) refusals = (await call(at % 3, ...kindOf(at))) === 429 ? refusals + 1 : 0
  t.ok(await until(async () => (await books()).requests === bill.answers))
  const { told, guessed, estimated } = await books()
  t.equal(told, bill.told, 'the books are the bill')
  t.equal(estimated, bill.cut, 'what was cut is marked, and summed apart')
  t.ok(bill.cut > 0 && bill.rescued > 0 && guessed > 0)
  t.ok(told + guessed <= budget + reservation, `${told + guessed} of ${budget}`)
  t.ok(told + guessed > budget - reservation, 'nothing of the budget is lost')
}

/** Redis ends with everything that it knew, and another one starts in its place. */
const withoutRedis = async (t: Test, { payer }: House, redis: RedisServer) => {
  const budget = 10 * usual
  const { call, books, bill } = await payer('without', budget)
  const each = (calls: number) => Promise.all(Array.from({ length: calls }, (_, at) => call(at % 3, ...kindOf(at))))
  const crowd = Array.from({ length: 24 }, (_, at) => call(at % 3, ...kindOf(at)))
  await Promise.race(crowd)
  await redis.stop()
  const under = await Promise.all(crowd)
  t.same(
    under.filter((status) => ![200, 429, 503].includes(status)),
    [],
    'calls under way end as they may',
  )
  t.ok(await until(async () => (await each(3)).every((status) => status === 503)), 'every process notices')
  const asked = bill.answers
  t.same([...new Set(await each(24))], [503], 'a call with a budget is refused')
  t.equal(bill.answers, asked, 'and asks no backend')

  const before = bill.told
  await redis.start()
  const after: number[] = []
  const isBack = async (): Promise<boolean> => {
    const statuses = await each(3)
    after.push(...statuses.filter((status) => status !== 503))
    return !statuses.includes(503)
  }
  t.ok(await until(isBack))
  after.push(...(await each(120)))
  t.same([...new Set(after)].sort(), [200, 429], 'a new Redis begins each budget anew')
  t.ok(bill.told - before <= budget + reservation, `${bill.told - before} of ${budget}`)
  t.ok(await until(async () => (await books()).requests === bill.answers))
  t.match(await books(), { told: bill.told, estimated: bill.cut }, 'and the books are the bill of both')
}

t.test('whatever is killed or stands still, no budget is overspent', { skip }, async (t) => {
  const draw = chance(seed + 1)
  const { payer, replicas, again } = await house(t, server!)
  for (let round = 0; round < rounds; round++) {
    const budget = 30 * usual
    const { call, books, bill } = await payer(`round${round}`, budget)
    /** Calls that had no answer when their process was killed: each may keep its reservation. */
    let lost = 0
    let served = 0
    for (const act of draw(2) === 0 ? ['nothing', 'kill', 'pause'] : ['nothing', 'pause', 'kill']) {
      const victim = draw(3)
      const calls = Array.from({ length: 24 }, (_, at) => call(at % 3, ...kindOf(draw(10))).catch(() => null))
      if (act === 'pause') server!.pause()
      if (act === 'kill') {
        await Promise.race(calls)
        await replicas[victim]!.stop('SIGKILL')
      }
      const settling = Promise.all(calls)
      // Redis comes back when the first call has been refused without it.
      if (act === 'pause') {
        await Promise.race(calls)
        server!.resume()
      }
      const statuses = await settling
      lost += statuses.filter((status) => status === null).length
      served += statuses.filter((status) => status === 200).length
      for (const status of statuses) if (status !== null && ![200, 429, 503].includes(status)) t.fail(`${status}`)
      if (act === 'kill') await again(victim)
      t.ok(bill.told <= budget + reservation, `${act}: ${bill.told} of ${budget}`)
    }
    t.ok(bill.answers >= served && bill.answers <= served + lost, 'nothing is asked twice')
    await until(async () => (await books()).requests >= bill.answers - lost, 3_000)
    const { told, guessed, requests, estimated } = await books()
    // A call whose process is killed before it asks a backend is counted as a guess, too.
    const isOnce = requests - estimated <= bill.answers && estimated <= bill.cut + lost && told <= bill.told
    t.ok(isOnce, `${requests} with ${estimated} guessed, of ${bill.answers} with ${bill.cut} cut and ${lost} lost`)
    t.ok(told >= bill.told - lost * reservation, `${told} of ${bill.told} with ${lost} lost: no other call is missing`)
    t.ok(told + guessed <= budget + reservation)
  }
})
