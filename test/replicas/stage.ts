import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@keyv/redis'
import type { Test } from 'tap'
import * as v from 'valibot'
import { clock, log, random } from '../../adapters/memory/platform.ts'
import { Keyring, keyring } from '../../core/access/keyring.ts'
import { use } from '../../core/plugin.ts'
import { Settings, SettingsShape } from '../../core/settings.ts'
import { type EnclaveKey, newest, parseKeyset } from '../../plugins/sealed/wire/keyset.ts'
import { fromHex } from '../../plugins/sealed/wire/bytes.ts'
import { kems } from '../../plugins/sealed/wire/kem.ts'
import postgres from '../../plugins/storage/postgres.ts'
import { type PostgresServer, startPostgres } from '../fakes/postgres.ts'
import { type RedisServer, startRedis } from '../fakes/redis.ts'
import { enclosed, served } from '../fakes/served.ts'
import { fitted, given } from '../fitted.ts'
import { folderOf } from '../helpers.ts'
import { type Provider, holding } from './provider.ts'
import { type Send, sending } from './send.ts'

/** Of every organisation, at once. */
export const crowd = 7
/** Of every key. */
export const deciding = 4

export interface Stage {
  /** Whether each replica counts for itself. */
  readonly apart: boolean
  readonly provider: Provider
  readonly send: Send
  readonly bases: readonly string[]
  /** What the one enclave is sealed to. */
  readonly sealing: EnclaveKey
  /** The credential of a key that may do everything in that organisation. */
  boss(organization: string): Promise<string>
  /** Places that are taken in Redis, under each name. */
  places(names: readonly string[]): Promise<readonly number[]>
  /** What is left of an allowance in Redis; null when all of it. */
  level(name: string): Promise<{ readonly left: number; readonly at: number } | null>
  /** Names under which places are taken. */
  taken(): Promise<readonly string[]>
  /** Takes a place or an allowance behind everybody's back. */
  steal(name: string, allowance?: { readonly left: number }): Promise<void>
  /** What the replicas logged. */
  logged(): readonly Logged[]
  /** How often a replica found Redis too slow, as far as that was logged: what limits promise then is another matter. */
  disturbances(): number
  /** Tells every process to end, and says with which status each did. */
  stop(): Promise<readonly (number | null)[]>
}

export interface Logged {
  readonly event: string
  readonly status?: number
}

const unlimited = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null }
const ms = 300_000

export interface Servers {
  readonly redis: RedisServer
  readonly rows: PostgresServer
}

/** Null when one of them is not installed. */
export const servers = async (t: Test): Promise<Servers | null> => {
  const [redis, rows] = await Promise.all([startRedis({ steer: true }), startPostgres({ steer: true })])
  t.teardown(() => Promise.all([redis?.close(), rows?.close()]))
  return redis === null || rows === null ? null : { redis, rows }
}

/** Three replicas with one enclave; `apart` leaves them without the Redis, so that each counts for itself. */
export const staged = async (t: Test, { redis, rows }: Servers, apart = false): Promise<Stage> => {
  const provider = await holding(t)
  const folder = await folderOf(t)
  const file = join(folder, 'config.json')
  const main = { use: 'openai', baseUrl: provider.baseUrl, apiKey: 'x' }
  const upstreams = [{ provider: 'main' }]
  const config = {
    providers: { main, decider: { ...main, decisions: true } },
    models: {
      plain: { upstreams },
      quiet: { upstreams: [{ provider: 'inside' }], confidential: true, standard: false },
      judge: { type: 'DECISION', upstreams: [{ provider: 'decider' }] },
    },
    enclave: { connect: [join(folder, 'e.sock')], listen: join(folder, 'e.sock'), providers: { inside: main } },
    tools: {},
    server: { linger: 0, drain: 20_000 },
    storage: { metadata: { use: 'postgres', url: rows.url } },
    limits: {
      key: unlimited,
      organization: { ...unlimited, concurrentRequests: crowd },
      // Nothing is let pass uncounted: what is not exact is refused.
      ...(!apart && {
        redis: redis.url,
        patience: 2000,
        whenDown: { places: 'closed', tokens: 'closed', requests: 'closed' },
      }),
    },
    decision: { places: deciding },
    // A revoked key's calls end as the plan says, and not by the clock.
    timeouts: { total: ms, firstToken: ms, idle: ms, decision: ms, revoked: ms },
    routing: { retries: 0, breaker: { faults: 1_000_000, ratio: 1 } },
  }
  await writeFile(file, JSON.stringify(config))

  const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(folder, 'data') }
  const enclave = await enclosed(env)
  t.teardown(() => enclave.kill('SIGKILL'))
  const heard: string[] = []
  const replicas = await Promise.all([0, 1, 2].map(() => served({ ...env, SEALGATE_LOG: 'warn' })))
  for (const { child } of replicas) {
    child.stdout!.on('data', (part) => heard.push(String(part)))
    t.teardown(() => child.kill('SIGKILL'))
  }
  const settings = v.parse(SettingsShape, {})
  const store = fitted(
    ...[use(postgres, { url: rows.url }), use(clock), use(log), use(random), use(keyring)],
    given(Settings, 'settings', () => settings),
  )
  t.teardown(() => store.dispose())
  const { ring } = store.supply({ ring: Keyring })
  const client = createClient({ url: redis.url })
  await client.connect()
  t.teardown(() => client.destroy())
  const { send, close } = sending()
  t.teardown(close)

  const logged = () =>
    heard
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Logged)
  const { credential: key } = await ring.create({ organization: 'first' })
  const { keyset } = JSON.parse(await send(replicas[0]!.base, { method: 'GET', path: '/rvenc/keys', key }).whole)

  return {
    apart,
    provider,
    send,
    bases: replicas.map(({ base }) => base),
    sealing: newest(
      parseKeyset(fromHex(keyset, 1 << 20)!)!,
      kems.find(({ name }) => name === 'x-wing')!,
      Date.now(),
    )!,
    boss: async (organization) => (await ring.create({ organization })).credential,
    places: (names) => Promise.all(names.map((name) => client.zCard(`sealgate:places:{${name}}`))),
    async level(name) {
      const text = await client.get(`{sealgate:spend}:${name}`)
      const [left, at] = (text ?? '').split(' ').map(Number)
      return text === null ? null : { left: left!, at: at! }
    },
    taken: () => client.keys('sealgate:places:*'),
    async steal(name, allowance) {
      const until = Date.now() + 60_000
      if (allowance === undefined) await client.zAdd(`sealgate:places:{${name}}`, { score: until, value: 'stolen' })
      else await client.set(`{sealgate:spend}:${name}`, `${allowance.left} ${Date.now()}`)
    },
    logged,
    disturbances: () => logged().filter(({ event, status }) => event === 'redis.down' || status === 503).length,
    async stop() {
      const ended = once(enclave, 'exit') as Promise<[number | null]>
      const codes = await Promise.all(replicas.map((replica) => replica.stop('SIGTERM')))
      enclave.kill('SIGTERM')
      return [...codes, (await ended)[0]]
    },
  }
}
