import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { connect } from '../../core/client/client.ts'
import { standardRoutes } from './seal-routes.ts'

/**
 * The usual routes on this machine alone, sealed behind it: a program that knows nothing of sealing becomes end-to-end
 * encrypted by another base URL. Runs until SIGTERM or SIGINT.
 */
export const seal = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'base-url': { type: 'string' },
      key: { type: 'string' },
      port: { type: 'string', default: '8788' },
      host: { type: 'string', default: '127.0.0.1' },
      'allow-insecure-dev': { type: 'boolean', default: false },
      measurements: { type: 'string' },
    },
  })
  const baseUrl = urlOf(values['base-url'])
  const apiKey = values.key ?? env['SEALGATE_KEY']
  if (!apiKey) throw new Error('--key or SEALGATE_KEY is needed: a key of the gateway')
  if (!isLoopback(values.host))
    throw new Error('--host is an address of this machine alone: 127.0.0.1, ::1 or localhost')
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error('--port is a number up to 65535')
  const measurements = values.measurements?.split(',').map((it) => it.trim().toLowerCase())
  if (measurements?.some((it) => !/^([0-9a-f]{2})+$/.test(it))) throw new Error('--measurements is a list in hex')

  const policy = { allowInsecureDev: values['allow-insecure-dev'], ...(measurements && { measurements }) }
  const server = createServer(standardRoutes(connect({ baseUrl, apiKey, policy })))
  await once(server.listen(port, values.host), 'listening')
  const { family, address, port: own } = server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${address}]` : address
  process.stdout.write(`sealgate seal listening on http://${host}:${own}/v1\n`)

  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  server.close()
  server.closeAllConnections()
}

const urlOf = (text: string | undefined): string => {
  if (text === undefined) throw new Error('--base-url is needed: where the gateway is')
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error('--base-url is no http or https URL')
  return text
}

/** Whoever reaches the port speaks with the caller's key and reads plaintext, so nobody else may. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
