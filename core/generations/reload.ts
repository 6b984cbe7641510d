import type { Actor, Audit } from '../access/audit.ts'
import { one } from '../container.ts'
import { BadRequest, GatewayError, Unconfigured } from '../errors.ts'
import type { Renewable } from './generation.ts'
import type { Log } from '../ports/platform.ts'
import type { SettingsInput } from '../settings.ts'

/** The new configuration; an absent part stays as it is. */
export type Renewal = { readonly settings: SettingsInput } & Partial<Renewable>

/** Takes another renewal for all requests that begin from now on. Rejects, and changes nothing, when it can't be taken. */
export type Renew = (renewal: Renewal) => Promise<void>

/** Reads once more what the gateway was made from, and renews it with that. */
export type Again = () => Promise<void>

/** Reads again and renews, on somebody's behalf. Throws BadRequest when it can't be taken, and then nothing has changed. */
export type Reload = (actor: Actor) => Promise<void>

export const Reload = one<Reload>('Reload')

/** One after the other, each with its row in the audit. */
export const reloading = (take: Again | null, audit: Audit, log: Log): Reload => {
  let last: Promise<unknown> = Promise.resolve()
  const turn = async (): Promise<void> => {
    if (take === null)
      throw new Unconfigured({ validator: { configuration: 'Expected a configuration that can be read again' } })
    try {
      await take()
      log.info('reload')
    } catch (cause) {
      log.error('reload.refused', {}, cause)
      throw refusal(cause)
    }
  }
  return (actor) =>
    audit.record(actor, 'reload', null, () => {
      const it = last.then(turn)
      last = it.catch(() => undefined)
      return it
    })
}

/** The caller of a reload learns what stopped it: the path of a setting and what was expected there, never its value. */
const refusal = (cause: unknown): GatewayError => {
  if (cause instanceof GatewayError) return cause
  const validator = { configuration: cause instanceof Error ? cause.message : 'Expected another one' }
  return new BadRequest('The configuration was refused, and nothing has changed', { validator, cause })
}
