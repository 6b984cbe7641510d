import type { Actor, Audit } from '../access/audit.ts'
import { one } from '../container.ts'
import { BadRequest, GatewayError, RefusedConfiguration, Unconfigured } from '../errors.ts'
import type { Renewable } from './generation.ts'
import type { Log } from '../ports/platform.ts'
import type { SettingsInput } from '../settings.ts'

/** The new configuration; an absent part stays unchanged. */
export type Renewal = { readonly settings: SettingsInput } & Partial<Renewable>

/** Applies a renewal to all later requests. Rejects without any change when the renewal is invalid. */
export type Renew = (renewal: Renewal) => Promise<void>

/** Reads the gateway's configuration again and applies it. */
export type Again = () => Promise<void>

/**
 * Reads and applies the configuration for an actor. Throws BadRequest without any change when the configuration is
 * invalid.
 */
export type Reload = (actor: Actor) => Promise<void>

export const Reload = one<Reload>('Reload')

/** The refusal of a reload that would change what stays for as long as the gateway runs. */
export const fixedSetting = (path: string): RefusedConfiguration =>
  new RefusedConfiguration(`${path} can't be changed while the gateway runs; restart it`, [path])

/** In a line of the log. */
const mostPaths = 10

/** Paths tell an operator what to mend, so the frames of the code stay away from them. */
const logRefusal = (log: Log, cause: unknown): void =>
  cause instanceof RefusedConfiguration
    ? log.error('reload.refused', { paths: cause.paths.slice(0, mostPaths).join(' '), reason: cause.message })
    : log.error('reload.refused', {}, cause)

/** Runs reloads one after the other, each with its row in the audit. */
export const reloading = (take: Again | null, audit: Audit, log: Log): Reload => {
  let last: Promise<unknown> = Promise.resolve()
  const turn = async (): Promise<void> => {
    if (take === null)
      throw new Unconfigured({ validator: { configuration: 'Expected a configuration that can be read again' } })
    try {
      await take()
      log.info('reload')
    } catch (cause) {
      logRefusal(log, cause)
      throw refusal(cause)
    }
  }
  return (actor) =>
    audit.record(actor, 'reload', null, () => {
      const turned = last.then(turn)
      last = turned.catch(() => undefined)
      return turned
    })
}

/** The caller of a reload learns the cause: the path of a setting and its expected form, never its value. */
const refusal = (cause: unknown): GatewayError => {
  if (cause instanceof GatewayError) return cause
  const validator = { configuration: cause instanceof Error ? cause.message : 'Expected another one' }
  return new BadRequest('The configuration was refused, and nothing has changed', { validator, cause })
}
