import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { built } from '../../plugins/surfaces/console/built.ts'
import { connect } from '../../plugins/sealed/client/client.ts'
import { type ClientValues, clientOf, clientOptions, policyOf } from './client-options.ts'
import { portOf } from './option-values.ts'
import { consoleRoutes } from './console/routes.ts'
import { heldKeys } from './console/held-keys.ts'
import { ownFiles } from './console/own-files.ts'
import { type SameUser, sameUser } from './socket-owner.ts'

const options = {
  ...clientOptions,
  gateway: { type: 'string' },
  port: { type: 'string', default: '8789' },
  keys: { type: 'string' },
  hashes: { type: 'boolean', default: false },
} as const

/**
 * Serves the console from this installation, on this machine only. The key of the gateway and the keys of files stay in
 * this process. Runs until SIGTERM or SIGINT.
 */
export const ownConsole = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  ownerSeen: Promise<SameUser | null> = sameUser(),
): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options })
  if (values.hashes) return print(await hashLines())
  const gateway = clientOf({ ...values, 'base-url': values.gateway ?? values['base-url'] }, env)
  const port = portOf(values.port)
  const held = await heldKeys(env, values.keys)
  const token = `own_${randomBytes(32).toString('base64url')}`
  const client = held && connect({ ...gateway, ...held.secrets })
  const own = {
    gateway: gateway.baseUrl.replace(/(?<!\/)\/+$/, ''),
    policy: await policyText(values),
    allowInsecureDev: values['allow-insecure-dev'],
    kid: held?.kid ?? null,
  }
  const origins: string[] = []
  const server = createServer(
    consoleRoutes({
      built: await built(),
      own,
      apiKey: gateway.apiKey,
      files: client && ownFiles(client),
      door: { token, origins, sameUser: await ownerSeen },
    }),
  )
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const at = (server.address() as AddressInfo).port
  // A browser names the origin of the page in its requests.
  origins.push(`http://127.0.0.1:${at}`, `http://localhost:${at}`)
  print(`sealgate console listening on http://127.0.0.1:${at}/console#${token}`)
  try {
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** What the page starts with, in the form of a policy file; `clientOf` has checked it. */
const policyText = async ({ policy, measurements }: ClientValues): Promise<string | null> => {
  if (measurements !== undefined) return JSON.stringify({ measurements: policyOf({ measurements }).measurements })
  return policy === undefined ? null : readFile(policy, 'utf8')
}

/** The scripts of this installation, as the page of the playground lists those that it runs. */
const hashLines = async (): Promise<string> =>
  [...(await built()).files]
    .filter(([name]) => name.endsWith('.js'))
    .map(([name, { integrity }]) => `${Buffer.from(integrity.slice(7), 'base64').toString('hex')}  ${name}`)
    .join('\n')

const print = (text: string): void => void process.stdout.write(`${text}\n`)
