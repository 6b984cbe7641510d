import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { Enclave } from '../../../core/ports/enclave.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import { enclaveLine } from './enclave-client.ts'
import { enclaveProcess } from './enclave-child.ts'
import { several } from './enclave-pool.ts'

const bytes = v.instance(Buffer)

/** Confidential processes that run somewhere already. */
export const connected = plugin({
  port: Enclave,
  name: 'connected',
  settings: v.strictObject({
    connect: v.pipe(v.array(v.string()), v.minLength(1)),
    tls: v.optional(v.nullable(v.strictObject({ ca: bytes, cert: bytes, key: bytes })), null),
  }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { connect, tls }) =>
    several(
      connect.map((at) => enclaveLine(at, tls)),
      clock,
      log,
    ),
})

/** A confidential process of this gateway's own. */
export const started = plugin({
  port: Enclave,
  name: 'started',
  settings: v.strictObject({ config: v.looseObject({}) }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { config }): Enclave => {
    const { socket, leave } = enclaveProcess(config, log)
    return near(socket, clock, log, leave)
  },
})

/** A confidential process that the leader of the workers has started for all of them. */
export const lent = plugin({
  port: Enclave,
  name: 'lent',
  settings: v.strictObject({ socket: v.string(), back: v.function() }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { socket, back }) => near(socket, clock, log, back),
})

const near = (socket: string, clock: Clock, log: Log, over: () => unknown): Enclave => {
  const line = several([enclaveLine(socket, null)], clock, log)
  return {
    ...line,
    async dispose() {
      await line.dispose?.()
      over()
    },
  }
}
