import { Sweep } from '../../../plugins/sealed/files/sweep.ts'
import type { AddressInfo } from 'node:net'
import { checkedConfig, settingsOf } from '../../../adapters/production/config/config.ts'
import { production } from '../../../adapters/production/index.ts'
import { createGateway } from '../../../core/gateway.ts'
import type { Swept } from '../../../plugins/sealed/files/sweep.ts'
import { watchedLimiter } from '../../fakes/watched-limiter.ts'
import { type Memory, memoryOf } from './child.ts'

/** What the gateway's process tells of itself. */
export interface GatewayState extends Memory {
  readonly held: number
  readonly reserved: number
}

export interface Ready {
  readonly port: number
  readonly keys: readonly string[]
}

const { CONFIG, DATA, CALLERS } = process.env
const config = checkedConfig(JSON.parse(CONFIG!), {})
const limiter = watchedLimiter()
const adapters = { ...(await production(config, DATA!)), rateLimiter: limiter.fitting }
const gateway = createGateway(adapters, settingsOf(config))
const keys: string[] = []
for (let n = 0; n < Number(CALLERS); n++) keys.push((await gateway.keys.create({ user: `user-${n}` })).credential)
const server = gateway.server()
server.listen(0, '127.0.0.1', () =>
  process.send!({ port: (server.address() as AddressInfo).port, keys } satisfies Ready),
)

const answers: Readonly<Record<string, () => Promise<unknown>>> = {
  state: async (): Promise<GatewayState> => ({
    ...(await memoryOf()),
    held: limiter.held(),
    reserved: limiter.open(),
  }),
  sweep: (): Promise<Swept> => gateway.supply({ sweep: Sweep }).sweep.now(0),
  drain: () => gateway.drain(5000),
}

process.on('message', async (question) => process.send!(await answers[String(question)]!()))
process.once('disconnect', () => process.exit())
