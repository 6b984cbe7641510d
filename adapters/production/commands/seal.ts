import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { connect } from '../../../core/sealed/client/client.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { admission } from './seal-admission.ts'
import { type SameUser, sameUser } from './seal-owner.ts'
import { standardRoutes } from './seal-routes.ts'

/**
 * The usual routes on this machine alone, sealed behind it: a program that knows nothing of sealing becomes end-to-end
 * encrypted by another base URL. Runs until SIGTERM or SIGINT.
 */
export const seal = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  ownerSeen: Promise<SameUser | null> = sameUser(),
): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...clientOptions,
      port: { type: 'string', default: '8788' },
      host: { type: 'string', default: '127.0.0.1' },
      origin: { type: 'string' },
      token: { type: 'string' },
    },
  })
  const options = clientOf(values, env)
  if (!isLoopback(values.host))
    throw new Error('--host is an address of this machine alone: 127.0.0.1, ::1 or localhost')
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error('--port is a number up to 65535')
  const origins = originsOf(values.origin)
  const given = tokenOf(values.token ?? env['SEALGATE_SEAL_TOKEN'])
  const same = await ownerSeen
  // Where nobody tells who owns a connection, only a key tells this user from others.
  const token = given ?? (same === null ? randomBytes(32).toString('base64url') : null)
  const server = createServer(standardRoutes(connect(options), admission({ origins, token, sameUser: same })))
  await once(server.listen(port, values.host), 'listening')
  const { family, address, port: own } = server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${address}]` : address
  if (token !== given) process.stdout.write(`sealgate seal takes this key alone: ${token}\n`)
  process.stdout.write(`sealgate seal listening on http://${host}:${own}/v1\n`)

  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  server.close()
  server.closeAllConnections()
}

/** Whoever reaches the port speaks with the caller's key and reads plaintext, so nobody else may. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** Exactly as browsers write them: a scheme, a host and a port other than the usual one. */
const originsOf = (list: string | undefined): readonly string[] => {
  const origins = list?.split(',').map((it) => it.trim()) ?? []
  if (!origins.every((it) => URL.canParse(it) && /^https?:$/.test(new URL(it).protocol) && new URL(it).origin === it))
    throw new Error('--origin is a list of origins, such as http://localhost:3000')
  return origins
}

const tokenOf = (said: string | undefined): string | null => {
  if (said === undefined || said === '') return null
  if (!/^[!-~]{16,256}$/.test(said))
    throw new Error('--token or SEALGATE_SEAL_TOKEN has 16 to 256 characters, no spaces')
  return said
}
