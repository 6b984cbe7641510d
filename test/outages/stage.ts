import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../fakes/postgres.ts'
import { startRedis } from '../fakes/redis.ts'
import { startS3 } from '../fakes/s3.ts'
import { openedBy, socketsIn } from '../fakes/opened.ts'
import { enclosed, served } from '../fakes/served.ts'
import { type Provider, startProvider } from './provider.ts'

/** Anything that may be away: a server that runs, or the process of one. */
export interface Steered {
  pause(): void
  resume(): void
  stop(): Promise<void>
  /** Resolves when it answers. */
  start(): Promise<void>
}

export interface Gateway {
  readonly base: string
  /** Sockets that it has open; null where the system does not tell. */
  sockets(): Promise<number>
  stop(): Promise<number | null>
}

export interface Stage {
  readonly key: string
  readonly redisUrl: string
  readonly redis: Steered
  readonly postgres: Steered
  readonly s3: Steered
  readonly enclaves: readonly [Steered, Steered]
  readonly providers: readonly [Provider, Provider]
  /** One more gateway on the same servers; `whenDown` as in the configuration. */
  gateway(whenDown?: object): Promise<Gateway>
  close(): Promise<void>
}

/** Ms that the stores are given, so that a silent one is noticed within a test. */
export const patience = 1_000
/** Ms of silence after which the second provider is asked beside the first. */
export const hedge = 250
/** Ms that a whole answer may take, and the longest rest of a provider that failed. */
export const [total, rest] = [2_500, 1_000]

const plenty = { requestsPerSecond: 10_000, concurrentRequests: 10_000, tokensPerMinute: 1_000_000_000 }

/** Everything that a gateway stands on, real and steerable; null, and why is printed, where one of them is not installed. */
export const setStage = async (): Promise<Stage | null> => {
  // Not among the tests: the path of a socket has to be short.
  const folder = await mkdtemp(join(tmpdir(), 'outages-'))
  const closing = [(): Promise<unknown> => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const act of closing.splice(0).reverse()) await act()
  }
  try {
    const redis = await startRedis({ steer: true })
    if (redis !== null) closing.push(redis.close)
    const postgres = redis && (await startPostgres({ steer: true }))
    if (postgres !== null) closing.push(postgres.close)
    const s3 = postgres && (await startS3({ steer: true }))
    if (s3 !== null) closing.push(s3.close)
    if (redis === null || postgres === null || s3 === null) {
      await close()
      return null
    }

    const providers = [await startProvider(), await startProvider()] as const
    for (const provider of providers) closing.push(provider.close)
    const upstreams = [
      { provider: 'one', priority: 1 },
      { provider: 'two', priority: 2 },
    ]
    const shared = {
      providers: Object.fromEntries(
        ['one', 'two'].map((name, at) => [name, { use: 'openai', baseUrl: providers[at]!.url }]),
      ),
      models: {
        small: { decide: true, upstreams },
        secret: { confidential: true, standard: false, upstreams },
      },
      timeouts: { total, firstToken: total / 2, decision: total, sealedIdle: 15_000 },
      routing: { breaker: { rest }, hedge: { after: hedge, share: 1 } },
      tools: {},
    }

    const lines = ['a', 'b'].map((name) => join(folder, `${name}.sock`))
    const enclaves = await Promise.all(
      lines.map(async (listen, at) => {
        const file = join(folder, `enclave-${at}.json`)
        await writeFile(file, JSON.stringify({ ...shared, enclave: { listen } }))
        const enclave = await startEnclave(file)
        closing.push(enclave.stop)
        return enclave
      }),
    )

    const { endpoint, accessKeyId, secretAccessKey, region } = s3
    const bucket = await s3.bucket()
    const key = `sk_live_${'6'.repeat(44)}`
    let gateways = 0
    return {
      key,
      redisUrl: redis.url,
      redis,
      postgres,
      s3,
      enclaves: [enclaves[0]!, enclaves[1]!],
      providers,
      async gateway(whenDown = {}) {
        const at = join(folder, `gateway-${gateways++}`)
        const config = {
          ...shared,
          decision: { places: 1000 },
          enclave: { connect: lines },
          limits: { redis: redis.url, whenDown, key: plenty, organization: plenty },
          storage: {
            metadata: { use: 'postgres', url: postgres.url, patience },
            blobs: { use: 's3', bucket, region, endpoint, accessKeyId, secretAccessKey, patience },
          },
        }
        await writeFile(`${at}.json`, JSON.stringify(config))
        const server = await served({ SEALGATE_CONFIG: `${at}.json`, SEALGATE_DATA: at, SEALGATE_KEY: key })
        // What it goes on to say is read, lest it waits for that.
        server.child.stderr!.resume()
        const stop = () =>
          server.child.exitCode === null ? server.stop('SIGTERM') : Promise.resolve(server.child.exitCode)
        closing.push(async () => {
          const late = setTimeout(() => server.child.kill('SIGKILL'), 5_000)
          await stop()
          clearTimeout(late)
        })
        return { base: server.base, sockets: async () => socketsIn(await openedBy(server.child)), stop }
      },
      close,
    }
  } catch (fault) {
    await close()
    throw fault
  }
}

const startEnclave = async (file: string): Promise<Steered> => {
  let child: ChildProcess | null = null
  const start = async () => {
    child = await enclosed({ SEALGATE_CONFIG: file })
  }
  await start()
  return {
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async stop() {
      const stopped = child
      child = null
      if (stopped === null) return
      const gone = once(stopped, 'exit')
      stopped.kill('SIGKILL')
      await gone
    },
    start,
  }
}
