import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../core/access/audit.ts'
import { GatewayError } from '../../core/errors.ts'
import { boot } from './boot.ts'
import { firstKey } from './first-key.ts'

/** Listens until SIGTERM or SIGINT, then lets what runs come to its end. */
export const serve = async (env: NodeJS.ProcessEnv, surfaces?: readonly string[]): Promise<void> => {
  const { gateway, config } = await boot(env, surfaces)
  try {
    const made = await firstKey(gateway.keys, gateway.audit, env['SEALGATE_KEY'])
    const server = gateway.server()
    server.listen(config.server.port, config.server.host)
    await once(server, 'listening')
    const { port, family, address } = server.address() as AddressInfo
    const host = family === 'IPv6' ? `[${address}]` : address
    if (made !== null) process.stdout.write(`sealgate made a key, shown only now: ${made}\n`)
    process.stdout.write(`sealgate listening on http://${host}:${port}\n`)

    process.on('SIGHUP', () => void gateway.reload(operator('signal')).catch(refused))
    const lingers = await Promise.race([
      once(process, 'SIGTERM').then(() => true),
      once(process, 'SIGINT').then(() => false),
    ])
    const drained = gateway.drain(config.server.drain)
    if (lingers) await sleep(config.server.linger)
    server.close()
    server.closeIdleConnections()
    await drained
    server.closeAllConnections()
  } finally {
    await gateway.close()
  }
}

const refused = (error: unknown): void => {
  const { message, validator } = error instanceof GatewayError ? error : { message: String(error), validator: null }
  process.stderr.write(`sealgate: ${[message, ...Object.values(validator ?? {})].join(': ')}\n`)
}
