import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { connect } from '../../core/client/client.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { standardRoutes } from './seal-routes.ts'

/**
 * The usual routes on this machine alone, sealed behind it: a program that knows nothing of sealing becomes end-to-end
 * encrypted by another base URL. Runs until SIGTERM or SIGINT.
 */
export const seal = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...clientOptions,
      port: { type: 'string', default: '8788' },
      host: { type: 'string', default: '127.0.0.1' },
    },
  })
  const options = clientOf(values, env)
  if (!isLoopback(values.host))
    throw new Error('--host is an address of this machine alone: 127.0.0.1, ::1 or localhost')
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error('--port is a number up to 65535')
  const server = createServer(standardRoutes(connect(options)))
  await once(server.listen(port, values.host), 'listening')
  const { family, address, port: own } = server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${address}]` : address
  process.stdout.write(`sealgate seal listening on http://${host}:${own}/v1\n`)

  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  server.close()
  server.closeAllConnections()
}

/** Whoever reaches the port speaks with the caller's key and reads plaintext, so nobody else may. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
