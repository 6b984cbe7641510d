import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { collectDefaultMetrics } from 'prom-client'
import { operator } from '../../../core/access/audit.ts'
import { boot } from '../boot.ts'
import { complaint } from './error-text.ts'
import { firstKey, givenKey } from './bootstrap-key.ts'
import { signalled } from '../signals.ts'
import type { Team } from '../workers/worker.ts'

/** Listens until SIGTERM or SIGINT, or until the team's end, and then lets what runs come to its end. */
export const serve = async (
  env: NodeJS.ProcessEnv,
  surfaces: readonly string[] | null = null,
  team: Team | null = null,
): Promise<void> => {
  const { gateway, config, renew } = await boot(env, surfaces, team)
  collectDefaultMetrics({ register: gateway.metrics.registry })
  const reload = () => gateway.reload(operator('signal')).catch(complain)
  try {
    const given = env['SEALGATE_KEY']
    if (given) await givenKey(gateway.keys, gateway.audit, given)
    const server = gateway.server()
    const begun = gateway.hold()
    server.listen(config.server.port, config.server.host)
    await once(server, 'listening')
    // Only now: a key that is made by a boot that fails is never seen.
    const made = given ? null : await firstKey(gateway.keys, gateway.audit)
    if (made !== null) await show(`sealgate made a key, shown only now: ${made}\n`)
    begun()
    // Nobody waits for it: a provider may be silent, and requests are served meanwhile.
    void gateway.refusedKeys().then((refused) => refused.forEach(tellOfKey), complain)
    // A signal may come as soon as the port is told.
    const left = team?.leave ?? signalled()
    if (team === null) {
      process.on('SIGHUP', () => void reload())
      announce(server.address() as AddressInfo)
    } else team.begin({ renew, reload, measured: () => gateway.metrics.registry.getMetricsAsJSON() })
    const lingers = await left
    const drained = gateway.drain(config.server.drain)
    if (lingers) await sleep(config.server.linger)
    server.close()
    server.closeIdleConnections()
    await drained
    server.closeAllConnections()
    // What was cut is counted, too.
    await gateway.drain(1_000)
  } finally {
    await gateway.close()
  }
}

/** Nobody could come in with a key that nobody has seen. */
const show = (line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) =>
      reject(
        new Error(`a key was made and can't be shown (${cause.code}); sealgate keys create makes another`, { cause }),
      )
    process.stdout.once('error', failed)
    process.stdout.write(line, (fault) => {
      if (fault) return
      process.stdout.off('error', failed)
      resolve()
    })
  })

export const announce = ({ port, family, address }: Pick<AddressInfo, 'port' | 'family' | 'address'>): void => {
  // On a full disk, as for the log's lines.
  process.stdout.on('error', () => undefined)
  const host = family === 'IPv6' ? `[${address}]` : address
  process.stdout.write(`sealgate listening on http://${host}:${port}\n`)
}

const tellOfKey = ({ provider, status }: { readonly provider: string; readonly status: number }): void =>
  void process.stderr.write(
    `sealgate: provider ${provider} refuses the key that the configuration gives for it (${status})\n`,
  )

const complain = (error: unknown): void => void process.stderr.write(`sealgate: ${complaint(error)}\n`)
