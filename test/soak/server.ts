import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { memory } from '../../adapters/memory/index.ts'
import { fetch, log } from '../../adapters/production/host.ts'
import { createGateway } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import type { SettingsInput } from '../../core/settings.ts'
import openai from '../../plugins/providers/openai.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import { watchedLimiter } from '../fakes/watched-limiter.ts'
import { families } from './traffic.ts'

/** What the gateway's process tells of itself. */
export interface State {
  /** Bytes. */
  readonly rss: number
  /** Bytes of what JavaScript holds, after a collection. */
  readonly kept: number
  readonly held: number
  readonly reserved: number
}

const { BACKEND, DEAD, KEY, FAMILIES } = process.env
const most = 1_000_000_000
const free = { requestsPerSecond: most, concurrentRequests: 10_000, tokensPerMinute: most }
const limiter = watchedLimiter()
const traffic = await families(FAMILIES ? FAMILIES.split(',') : [])
const settings: SettingsInput = {
  models: Object.assign({}, ...traffic.map(({ models }) => models ?? {})),
  limits: { key: free, organization: free },
  decision: { places: 10_000 },
  // What is meant to break must not close the way for the rest.
  routing: { breaker: { faults: 1_000_000, ratio: 1 } },
}
const upstreams = [use(openai, { baseUrl: BACKEND! }, 'soak'), use(openai, { baseUrl: DEAD! }, 'dead'), use(rehearsal)]
const adapters = { ...memory(), fetch: use(fetch), log: use(log), rateLimiter: limiter.fitting, upstreams }
const gateway = createGateway(adapters, settings)
await gateway.keys.create({}, KEY!)
const server = gateway.server()
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))

process.on('message', async (question) => {
  if (question === 'drain') return void process.send!(await gateway.drain(5000))
  // What the first one finds dead may hold on to more until its own end was run.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await sleep(20)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  const state: State = { rss, kept: heapUsed + external, held: limiter.held(), reserved: limiter.open() }
  process.send!(state)
})
