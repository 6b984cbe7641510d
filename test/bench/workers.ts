import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '../fakes/redis.ts'
import { program, served } from '../fakes/served.ts'
import { type Subject, compare, measure, start } from './measure.ts'

const key = `sk_live_${'2'.repeat(44)}`

/** Standard chat through one worker and through two, with limits in one Redis: what a request costs, and who served it. */
export const workers = async (): Promise<readonly string[]> => {
  const redis = await startRedis({ steer: true })
  if (redis === null) return ['there is no redis-server']
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-workers-'))
  const upstream = await start('upstream')
  const begun: Crew[] = []
  try {
    for (const count of [1, 2]) begun.push(await crewOf(count, upstream.base, redis.url, join(folder, `${count}`)))
    const [one, two] = begun as [Crew, Crew]
    const load = (name: string) => ({
      path: '/std/chat/completions',
      body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say "words".\n'.repeat(40) }] }),
      headers: { authorization: `Bearer ${key}` },
      requests: 4000,
      // As many at once for each: two are there to carry twice as much.
      concurrency: name === 'one' ? 32 : 64,
    })
    const seen = await compare({ one, two }, load, 5)
    const before = await two.each()
    const { failed } = await measure(two, load('two'))
    const shares = (await two.each()).map((cpu, at) => cpu - before[at]!)
    const whole = shares.reduce((sum, share) => sum + share, 0)
    const part = (share: number) => `${((100 * share) / whole).toFixed(1)} %`
    return [
      `CPU a request with two workers: ${(seen['two']!.cpu / seen['one']!.cpu).toFixed(3)} times that of one (at most 1.15); ` +
        `${seen['two']!.cpu.toFixed(0)} and ${seen['one']!.cpu.toFixed(0)} µs, failed ${failed + seen['one']!.failed + seen['two']!.failed}`,
      `their shares of it: ${shares.map(part).join(' and ')} (within 20 % of each other)`,
    ]
  } finally {
    await Promise.all([...begun, upstream].map((it) => it.stop()))
    await redis.close()
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
