import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '../fakes/redis.ts'
import { program, served } from '../fakes/served.ts'
import { type Measured, type Subject, measure, start } from './measure.ts'

const [rounds, turns] = [5, 3]
const key = `sk_live_${'2'.repeat(44)}`

/** Standard chat through one worker and through two, with limits in one Redis: what a request costs, and who served it. */
export const workers = async (): Promise<readonly string[]> => {
  const redis = await startRedis({ steer: true })
  if (redis === null) return ['there is no redis-server']
  const upstream = await start('upstream')
  try {
    // What a core and a compiler give differs from start to start and from moment to moment: the median of pairs counts.
    const seen: Round[] = []
    for (let at = 0; at < rounds; at++) seen.push(await round(upstream.base, redis.url))
    const pairs = seen.flatMap(({ pairs }) => pairs)
    const middle = (of: (pair: Pair) => number) => pairs.map(of).sort((a, b) => a - b)[pairs.length >> 1]!
    const failed = pairs.flat().reduce((sum, { failed }) => sum + failed, 0)
    const shares = seen.map(({ share }) => `${(100 * share).toFixed(0)} %`)
    return [
      `CPU a request with two workers: ${middle(([one, two]) => two.cpu / one.cpu).toFixed(3)} times that of one (at most 1.15), median of ${pairs.length} pairs; ` +
        `${middle(([, two]) => two.cpu).toFixed(0)} and ${middle(([one]) => one.cpu).toFixed(0)} µs, failed ${failed}`,
      `the first one's share of it, in each of ${rounds} starts: ${shares.join(', ')} (half, within 20 %)`,
    ]
  } finally {
    await upstream.stop()
    await redis.close()
  }
}

type Pair = readonly [one: Measured, two: Measured]

interface Round {
  readonly pairs: readonly Pair[]
  /** Of two, what the first one did. */
  readonly share: number
}

const round = async (backend: string, redis: string): Promise<Round> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-workers-'))
  const begun: Crew[] = []
  try {
    for (const count of [1, 2]) begun.push(await crewOf(count, backend, redis, join(folder, `${count}`)))
    const [one, two] = begun as [Crew, Crew]
    const load = (concurrency: number) => ({
      path: '/std/chat/completions',
      body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say "words".\n'.repeat(40) }] }),
      headers: { authorization: `Bearer ${key}` },
      requests: 4000,
      concurrency,
    })
    // As many at once for each: two are there to carry twice as much.
    const pair = async (): Promise<Pair> => [await measure(one, load(32)), await measure(two, load(64))]
    await pair()
    const before = await two.each()
    const pairs: Pair[] = []
    for (let turn = 0; turn < turns; turn++) pairs.push(await pair())
    const [first, second] = (await two.each()).map((cpu, at) => cpu - before[at]!) as [number, number]
    return { pairs, share: first / (first + second) }
  } finally {
    await Promise.all(begun.map((it) => it.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

interface Crew extends Subject {
  /** Microseconds of CPU of each that serves. */
  each(): Promise<readonly number[]>
}

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
  const it = await served(env, program, ['serve', '--workers', `${count}`])
  const leader = it.child.pid!
  const below = (await readFile(`/proc/${leader}/task/${leader}/children`, 'utf8')).trim()
  const serving = count === 1 ? [leader] : below.split(' ').map(Number)
  const sum = async (pids: readonly number[]) => (await Promise.all(pids.map(cpuOf))).reduce((all, cpu) => all + cpu, 0)
  return {
    base: it.base,
    cpu: () => sum(count === 1 ? serving : [leader, ...serving]),
    each: () => Promise.all(serving.map(cpuOf)),
    memory: async () => 0,
    ask: async () => 0,
    stop: async () => void (await it.stop('SIGTERM')),
  }
}

/** The kernel counts in hundredths of a second. */
const cpuOf = async (pid: number): Promise<number> => {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
