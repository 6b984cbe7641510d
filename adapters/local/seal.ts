import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { type Client, connect } from '../../plugins/sealed/client/client.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { admission } from './admission.ts'
import { localGateway } from './seal/local-gateway.ts'
import { passing } from './seal/middleware.ts'
import { type ProgramToRun, checkProgram, runProgram } from './seal/run-program.ts'
import { portOf, wholeNumberOf } from './option-values.ts'
import { ownGuards } from './seal/guards.ts'
import { type SameUser, sameUser } from './socket-owner.ts'

const options = {
  ...clientOptions,
  port: { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  origin: { type: 'string' },
  token: { type: 'string' },
  streams: { type: 'string', default: '1' },
  redact: { type: 'boolean' },
  guards: { type: 'string' },
} as const

/**
 * Serves all dialects on this machine only and seals each request. A program without sealing becomes end-to-end
 * encrypted through another base URL. Runs until SIGTERM or SIGINT, or until the program after `--` ends.
 */
export const seal = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  ownerSeen: Promise<SameUser | null> = sameUser(),
): Promise<void> => {
  const [before, program] = splitArguments(args)
  const { values } = parseArgs({ args: before, options })
  const gateway = clientOf(values, env)
  if (!isLoopback(values.host))
    throw new Error('--host is an address of this machine alone: 127.0.0.1, ::1 or localhost')
  const port = portOf(values.port ?? (program === null ? '8788' : '0'))
  const streams = wholeNumberOf(values.streams, 1, 1_000, '--streams is a number from 1 to 1000')
  const origins = originsOf(values.origin)
  const given = tokenOf(values.token ?? env['SEALGATE_SEAL_TOKEN'])
  const guards = await ownGuards(values)
  const started = program && { ...program, env, secrets: [gateway.apiKey] }
  if (started) await checkProgram(started)
  const same = await ownerSeen
  // Where the system does not name the owner of a connection, a key tells this user from others. A started program
  // always gets a key.
  const token = started ? newToken() : (given ?? (same === null ? newToken() : null))
  const { fetch, middleware } = passing()
  const client = connect({ ...gateway, fetch })
  const admit = admission({ origins, token, sameUser: same })
  const own = { client, apiKey: gateway.apiKey, streams, guards, admit, middleware: [middleware] }
  const local = await localGateway(own)
  const server = local.server()
  await once(server.listen(port, values.host), 'listening')
  try {
    const url = urlOf(server.address() as AddressInfo)
    if (started !== null && token !== null) return void (process.exitCode = await behind(client, started, url, token))
    if (token !== null && token !== given) process.stdout.write(`sealgate seal takes this key alone: ${token}\n`)
    process.stdout.write(`sealgate seal listening on ${url}/v1\n`)
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  } finally {
    server.close()
    server.closeAllConnections()
    await local.close()
  }
}

/** Starts the program after the enclave is verified. */
const behind = async (client: Client, started: ProgramToRun, url: string, token: string): Promise<number> => {
  await client.verify()
  const models = (await client.models.list()).map(({ model }) => model)
  return runProgram(started, { url, token, models })
}

/** 32 random bytes, in 43 letters of base64url. */
const newToken = (): string => randomBytes(32).toString('base64url')

const urlOf = ({ family, address, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** Our own arguments, and the program after `--` with its arguments. The program is null without `--`. */
const splitArguments = (args: readonly string[]): [string[], { command: string; args: readonly string[] } | null] => {
  const at = args.indexOf('--')
  if (at < 0) return [[...args], null]
  const [command, ...rest] = args.slice(at + 1)
  if (command === undefined) throw new Error('A program is expected behind --')
  return [args.slice(0, at), { command, args: rest }]
}

/** The port must be local: its callers use the owner's key and read plaintext. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** The exact form that browsers send: a scheme, a host, and the port unless it is the default. */
const originsOf = (list: string | undefined): readonly string[] => {
  const origins = list?.split(',').map((origin) => origin.trim()) ?? []
  if (
    !origins.every(
      (origin) =>
        URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).origin === origin,
    )
  )
    throw new Error('--origin is a list of origins, such as http://localhost:3000')
  return origins
}

/** Null when no token was given. Short tokens are refused: each program of this machine could guess. */
const tokenOf = (given: string | undefined): string | null => {
  if (given === undefined || given === '') return null
  if (!/^[!-~]{16,256}$/.test(given))
    throw new Error('--token or SEALGATE_SEAL_TOKEN has 16 to 256 characters, no spaces')
  return given
}
