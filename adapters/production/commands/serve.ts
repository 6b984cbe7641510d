import { Metrics } from '../../../plugins/observers/prometheus/metrics.ts'
import { ConsoleSessions } from '../../../plugins/surfaces/console/console-sessions.ts'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { collectDefaultMetrics } from 'prom-client'
import { operator, type Audit } from '../../../core/access/audit.ts'
import type { Gateway } from '../../../core/gateway.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { bootGateway } from './boot-gateway.ts'
import type { Config } from '../config/config.ts'
import { variable } from '../config/variables.ts'
import { isTerminal } from '../screen/style.ts'
import { namingStore } from './with-gateway.ts'
import { type OnHangUp, onStopSignal } from '../workers/signals.ts'
import type { WorkerLink } from '../workers/worker.ts'
import { type ShownKey, keepKey, orEndStart, printWhole } from './show-key.ts'
import { credentialHash } from '../../../core/access/credential.ts'
import { type KeyRow, keyOf, keys as stock, lives } from '../../../core/access/key-row.ts'
import type { Keyring } from '../../../core/access/keyring.ts'
import { Conflict } from '../../../core/errors.ts'

/** Listens until SIGTERM, SIGINT or the end of the worker pool. Open requests then finish. `started` is called once. */
export const serve = async (
  env: NodeJS.ProcessEnv,
  surfaces: readonly string[] | null,
  started: () => void,
  onHangUp: OnHangUp,
  workerLink: WorkerLink | null = null,
): Promise<void> => {
  const { gateway, config, data, renew } = await bootGateway(env, surfaces, workerLink)
  const { metrics, sessions, rows } = gateway.supply({
    metrics: Metrics,
    sessions: ConsoleSessions,
    rows: MetadataStore,
  })
  collectDefaultMetrics({ register: metrics.registry })
  const reload = () => gateway.reload(operator('signal')).catch(complain)
  try {
    const given = variable(env, 'SEALGATE_KEY')
    if (given !== '') await namingStore(config, () => storedKey(gateway, rows, given))
    const server = gateway.server()
    const begun = gateway.hold()
    const address = await listening(server, config.server)
    const origin = { env, config, surfaces: gateway.surfaces, data, url: urlOf(address) }
    const draw: Draw = async (key, terminal) =>
      (await import('../screen/show.ts')).drawnScreen(origin, gateway, key, terminal)
    // The key is made last: a key of a failed start would never be shown.
    const made = given !== '' ? null : await namingStore(config, () => makeFirstKey(gateway.keys, gateway.audit))
    const place = { address, url: origin.url, prefix: config.prefix, surfaces: origin.surfaces }
    const link = async (key: string) => (await import('./console-link.ts')).consoleLink(sessions, key, place)
    if (made !== null) await orEndStart(shown(made, data, link, workerLink === null ? draw : null))
    else if (workerLink === null && isTerminal()) await printWhole(await draw(null, true))
    begun()
    started()
    // A signal may arrive as soon as the port is printed.
    const left = workerLink?.leave ?? onStopSignal()
    if (workerLink === null) {
      onHangUp(() => void reload())
      announce(address, () => draw(null, false))
    } else {
      const measured = () => metrics.registry.getMetricsAsJSON()
      workerLink.begin({ renew, reload, measured, drawn: (terminal) => draw(null, terminal) })
    }
    await drained(gateway, server, config.server, await left)
  } finally {
    await gateway.close()
  }
}

/** Stores the given key; a line tells where that key opens nothing all the same. */
const storedKey = async ({ keys, audit }: Gateway, rows: MetadataStore, given: string): Promise<void> => {
  const fault = await storeGivenKey(keys, audit, rows, given)
  if (fault !== null) process.stderr.write(`sealgate: SEALGATE_KEY opens nothing: ${fault}\n`)
}

type Draw = (key: ShownKey | null, terminal: boolean) => Promise<string>

/** A worker prints only the key; the leading process prints the rest. */
const shown = async (
  credential: string,
  data: string,
  linkFor: (key: string) => Promise<string | null>,
  draw: Draw | null,
): Promise<void> => {
  if (!isTerminal()) return void (await keepKey(credential, data))
  const link = await linkFor(credential)
  if (draw !== null) return printWhole(await draw({ credential, link }, true))
  const words = link === null ? '' : `${link}   # signs in to the console once, within five minutes\n`
  await printWhole(`\nexport SEALGATE_KEY=${credential}   # a key with every scope, shown only now\n${words}`)
}

/**
 * The gateway lingers first, so that load balancers notice. Then the time for running requests begins: the last request
 * that comes has all of it, and what is left is cut.
 */
const drained = async (
  gateway: Gateway,
  server: Server,
  { drain, linger }: Config['server'],
  lingers: boolean,
): Promise<void> => {
  await gateway.drain(0)
  await sleep(lingers ? linger : 0)
  // A closed port cuts connections that a busy process has not taken yet. One turn takes them, and the next their requests.
  await nextTurn()
  await nextTurn()
  server.close()
  server.closeIdleConnections()
  await gateway.drain(drain)
  server.closeAllConnections()
  // Aborted requests are counted as usage, too.
  await gateway.drain(1_000)
}

/** Codes of `listen` that an operator can mend, in words. */
const refusals: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'is for privileged programs alone',
  EADDRNOTAVAIL: 'is on no address of this machine',
  ENOTFOUND: 'is nowhere, since the host names no address',
}

const otherPort = '--port N takes another, --port 0 any free one'

/** What to do where another port would not help. */
const mends: Readonly<Record<string, string>> = { ENOTFOUND: 'an IPv6 address stands without brackets' }

/** Rejects with what to do about the port, where the system's code tells the cause. */
const listening = async (server: Server, { port, host }: Config['server']): Promise<AddressInfo> => {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    const words = refusals[code]
    if (words === undefined) throw cause
    throw new Error(`port ${port} of ${host} ${words} (${code}); ${mends[code] ?? otherPort}`, { cause })
  }
  return server.address() as AddressInfo
}

type Address = Pick<AddressInfo, 'port' | 'family' | 'address'>

const urlOf = ({ port, family, address }: Address): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** Prints the address at once and the summary when it is complete. A terminal already has its first screen. */
export const announce = (address: Address, draw: () => Promise<string>): void => {
  // A full disk must not end the gateway; the log's lines follow the same rule.
  process.stdout.on('error', () => undefined)
  if (isTerminal()) return
  process.stdout.write(`sealgate listening on ${urlOf(address)}\n`)
  draw().then((text) => process.stdout.write(text), complain)
}

const complain = async (error: unknown): Promise<void> => {
  const { errorText } = await import('../../local/error-text.ts')
  process.stderr.write(`sealgate: ${errorText(error)}\n`)
}

/** More than the number of processes that can make a first key at the same time. */
const mostKeys = 1000

/** The audit names the command as the actor, since no key has asked for this one. */
const make = (keys: Keyring, audit: Audit, credential?: string) =>
  audit.record(
    operator('command'),
    'key.create',
    null,
    () => keys.create({ name: 'first' }, credential),
    ({ row }) => row.id,
  )

/** Stores the configured key where the store has none such. Null when the key opens the gateway, otherwise why it does not. */
export const storeGivenKey = async (
  keys: Keyring,
  audit: Audit,
  rows: MetadataStore,
  given: string,
): Promise<string | null> => {
  if ((await keys.find(given)) !== null) return null
  const stored = () => rows.get(stock, credentialHash(given))
  if ((await stored()) === null) await make(keys, audit, given).catch(passConflict)
  if ((await keys.find(given)) !== null) return null
  const row = await stored()
  return row === null ? 'it left the store' : whyShut(keyOf(row), Date.now())
}

/** Another process stored the key first. */
const passConflict = (error: unknown): void => {
  if (!(error instanceof Conflict)) throw error
}

const whyShut = (key: KeyRow, now: number): string => {
  if (key.revoked_at !== null) return 'it was revoked'
  if (!lives(key, now)) return 'it has expired'
  return key.mode === 'test' ? 'it is a test key, which only testKeys or development admits' : 'its team is closed'
}

/** Makes a key when the store holds none, so that an operator can log in. Null when the store holds a key. */
export const makeFirstKey = async (keys: Keyring, audit: Audit): Promise<string | null> => {
  const { total } = await keys.list(null, 1, 0)
  if (total > 0) return null
  const { credential, row } = await make(keys, audit)
  const { rows } = await keys.list(null, mostKeys, 0)
  if (rows.at(-1)?.id === row.id) return credential
  // Several processes made a key at once: the oldest key stays, and all processes agree on the oldest.
  await audit.record(operator('command'), 'key.revoke', row.id, () => keys.revoke(row.id, null))
  return null
}
