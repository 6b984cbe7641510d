import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localGateway } from '../../adapters/local/seal/local-gateway.ts'
import cache from '../../adapters/memory/cache.ts'
import { memory } from '../../adapters/memory/index.ts'
import { clock, log, random } from '../../adapters/memory/platform.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { createGateway } from '../../core/gateway.ts'
import { plugin, use } from '../../core/plugin.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { connect } from '../../plugins/sealed/client/client.ts'
import { buildEnclave } from '../../plugins/sealed/enclave/assemble.ts'
import type { SettingsInput } from '../../core/settings.ts'
import dev from '../../plugins/evidence/dev.ts'
import openai from '../../plugins/providers/openai.ts'
import type { Result, StartGateway } from '../../adapters/drill/play-acts.ts'
import { type Scene, scenes } from '../../adapters/drill/scenes.ts'

/** More than there are scenes, so that none waits for another. */
const streams = 100

/** A sealed stream sends a small frame every 50 ms, so a reader that takes none is noticed after minutes. */
export const sealedScenes: readonly Scene[] = scenes.filter(({ name }) => name !== 'C04')

/** A sealed stream may be silent for long before its last backend: silence ends in an error, and not in a second try. */
export const isExpected = ({ scene, mark }: Result): boolean => mark === (scene.name === 'S06' ? 'safe' : 'pass')

const listening = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const sealedModels = ({ models, timeouts, routing }: SettingsInput): SettingsInput => ({
  ...(routing && { routing }),
  timeouts: { ...timeouts, sealedIdle: (timeouts?.firstToken ?? 1) * 2 },
  limits: { sealedStreams: streams },
  models: Object.fromEntries(
    Object.entries(models ?? {}).map(([name, model]) => [name, { ...model, standard: false, confidential: true }]),
  ),
})

/** What `sealgate seal` serves, before a gateway whose backends are in its enclave alone. */
export const startSealed: StartGateway = async (faulty, dead, given) => {
  const settings = sealedModels(given)
  const enclaveParts = {
    ...{ clock: use(clock), random: use(random), fetch: use(fetch), log: use(log), cache: use(cache) },
    ...{ prover: use(dev), tools: [], readers: [] },
    upstreams: [
      use(openai, { baseUrl: faulty, continuation: { continue_final_message: true } }, 'faulty'),
      use(openai, { baseUrl: dead }, 'dead'),
    ],
  }
  const create = () => buildEnclave(enclaveParts, structuredClone(settings), {}, new Uint8Array(32))
  const enclave = use(plugin({ port: Enclave, name: 'drilled', create }))
  const gateway = createGateway({ ...memory(), enclave }, structuredClone(settings))
  const { credential: apiKey } = await gateway.keys.create({ name: 'drill' })
  const house = await listening(gateway.listener)
  const client = connect({ baseUrl: house.base, apiKey, policy: { allowInsecureDev: true } })
  const heartbeat = given.timeouts?.heartbeat
  const local = await localGateway({ client, apiKey, streams, guards: [], admit: async () => false, heartbeat })
  const proxy = await listening(local.listener)
  return {
    target: { base: proxy.base, key: 'any' },
    async close() {
      await proxy.close()
      await local.close()
      await house.close()
      await gateway.close()
    },
  }
}
