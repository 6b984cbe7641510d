import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '../../fakes/redis.ts'
import { program, served } from '../../fakes/served.ts'
import { start } from './measure.ts'
import { type Call, calling, eagerly, paced } from './pace.ts'
import { cpuOf } from './process-use.ts'

const rounds = 5
/** Requests a second of each that serves. */
const rates = [200, 400]
const seconds = 4
const key = `sk_live_${'2'.repeat(44)}`

/** Standard chat through one worker and through two, with limits in one Redis: what a request costs, and who served it. */
export const workers = async (): Promise<readonly string[]> => {
  const redis = await startRedis({ steer: true })
  if (redis === null) return ['there is no redis-server']
  const upstream = await start('upstream')
  try {
    // What a core and a compiler give differs from start to start and from moment to moment: the median of pairs counts.
    const seen: Round[] = []
    for (let at = 0; at < rounds; at++) seen.push(await round(at, upstream.base, redis.url))
    const told = (name: string, pairs: readonly Pair[]) => {
      const ratios = pairs.map(({ one, two }) => two / one).sort((a, b) => a - b)
      const middle = ratios[ratios.length >> 1]!.toFixed(3)
      const [one, two] = (['one', 'two'] as const).map((of) =>
        (pairs.reduce((sum, pair) => sum + pair[of], 0) / pairs.length).toFixed(0),
      )
      return `${name}: CPU a request with two workers ${middle} times that of one (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}); ${two} and ${one} µs`
    }
    const shares = seen.map(({ share }) => `${(100 * share).toFixed(0)} %`)
    return [
      told(
        'at the same rate for each (at most 1.15)',
        seen.flatMap(({ paced }) => paced),
      ),
      told(
        'as fast as they can, twice as many at once for two',
        seen.map(({ eager }) => eager),
      ),
      `the first one's share, in each of ${rounds} starts: ${shares.join(', ')} (half, within 20 %)`,
    ]
  } finally {
    await upstream.stop()
    await redis.close()
  }
}

/** Microseconds of CPU a request. */
interface Pair {
  readonly one: number
  readonly two: number
}

interface Round {
  readonly paced: readonly Pair[]
  readonly eager: Pair
  /** Of what two did, what the first one did. */
  readonly share: number
}

const round = async (nth: number, backend: string, redis: string): Promise<Round> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-workers-'))
  const begun: Crew[] = []
  try {
    for (const count of [1, 2]) begun.push(await crewOf(count, backend, redis, join(folder, `${count}`)))
    const crews = { one: begun[0]!, two: begun[1]! }
    // Each goes first as often as second.
    let turn = nth
    const pair = async (load: (call: Call, times: number) => Promise<number>): Promise<Pair> => {
      const cost = async ({ base, cpu }: Crew, times: number): Promise<number> => {
        const { call, close } = calling(`${base}/std/chat/completions`, key, body)
        // Callers come, each with a connection of its own, and are gone afterwards.
        await eagerly(call, 32 * times, 32 * times)
        const before = await cpu()
        const calls = await load(call, times)
        const cost = ((await cpu()) - before) / calls
        close()
        return cost
      }
      const [one, two] = [() => cost(crews.one, 1), () => cost(crews.two, 2)]
      if (turn++ % 2 === 0) return { one: await one(), two: await two() }
      const last = await two()
      return { two: last, one: await one() }
    }
    const eager = () => pair((call, times) => eagerly(call, 32 * times, 4000 * times))
    await eager()
    const before = await crews.two.each()
    const slow: Pair[] = []
    for (const rate of rates) slow.push(await pair((call, times) => paced(call, rate * times, rate * seconds * times)))
    const fast = await eager()
    const [first, second] = (await crews.two.each()).map((cpu, at) => cpu - before[at]!) as [number, number]
    return { paced: slow, eager: fast, share: first / (first + second) }
  } finally {
    await Promise.all(begun.map((crew) => crew.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

interface Crew {
  readonly base: string
  /** Microseconds of CPU since it began. */
  cpu(): Promise<number>
  /** Of each that serves. */
  each(): Promise<readonly number[]>
  stop(): Promise<void>
}

const body = JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say "words".\n'.repeat(40) }] })

const crewOf = async (count: number, base: string, redis: string, data: string): Promise<Crew> => {
  const file = `${data}.json`
  const free = { requestsPerSecond: 1e9, concurrentRequests: 1e6, tokensPerMinute: 1e12, tokensPerDay: 1e12 }
  await writeFile(
    file,
    JSON.stringify({
      providers: { bench: { use: 'openai', baseUrl: `${base}/v1`, apiKey: 'none' } },
      models: { bench: { upstreams: [{ provider: 'bench' }] } },
      limits: { redis, patience: 2000, key: free, organization: free },
      log: { level: 'error' },
      // Nothing here is sealed, so nobody is started for it.
      enclave: { connect: [`${data}.sock`] },
    }),
  )
  const env = {
    SEALGATE_CONFIG: file,
    SEALGATE_DATA: data,
    SEALGATE_KEY: key,
    SEALGATE_LOG: 'error',
    NODE_ENV: 'production',
  }
  const server = await served(env, program, ['serve', '--workers', `${count}`])
  const leader = server.child.pid!
  const below = (await readFile(`/proc/${leader}/task/${leader}/children`, 'utf8')).trim()
  const serving = count === 1 ? [leader] : below.split(' ').map(Number)
  const sum = (pids: readonly number[]) => pids.reduce((all, pid) => all + cpuOf(pid), 0)
  return {
    base: server.base,
    cpu: () => Promise.resolve(sum(count === 1 ? serving : [leader, ...serving])),
    each: () => Promise.resolve(serving.map(cpuOf)),
    stop: async () => void (await server.stop('SIGTERM')),
  }
}
