import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fitting } from '../../core/container.ts'
import { type Adapters, createGateway } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import type { Upstream } from '../../core/ports/upstream.ts'
import type { SettingsInput } from '../../core/settings.ts'
import openai from '../../plugins/providers/openai.ts'
import { memory } from '../memory/index.ts'
import { fetch } from '../production/platform.ts'

/** A backend of the drill; `continues` where it goes on from a prefix. */
export const drilledBackend = (name: string, baseUrl: string, continues: boolean): Fitting<Upstream> =>
  use(openai, { baseUrl, ...(continues && { continuation: { continue_final_message: true } }) }, name)

/** A gateway in memory on a free port of this machine, with a key; `parts` stand in place of its own. */
export const startDrilled = async (
  upstreams: readonly Fitting<Upstream>[],
  settings: SettingsInput,
  parts: Partial<Adapters> = {},
) => {
  const gateway = createGateway({ ...memory(), fetch: use(fetch), ...parts, upstreams }, settings)
  const { credential } = await gateway.keys.create({ name: 'drill' })
  const server = createServer(gateway.listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    target: { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: credential },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await gateway.close()
    },
  }
}
