import { one } from '../container.ts'
import { lazy } from '../lazy.ts'
import { plugin } from '../plugin.ts'
import { Clock, Log } from '../ports/platform.ts'
import { Settings } from '../settings.ts'
import type { Caller } from './caller.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { isToken } from './token.ts'

/** People who show an access token of an issuer of the configuration in the place of a key. */
export interface Logins {
  /** Whether a credential is looked at as a token here. Never where there is no issuer. */
  takes(credential: string): boolean
  /** Null for every bad token; only the log has the reason. Throws Unavailable while the issuer's keys are out of reach. */
  find(token: string): Promise<Caller | null>
}

/** The port of people with access tokens. */
export const Logins = one<Logins>('Logins')

const proving = lazy(() => import('./proved-logins.ts'))

/** The code for proofs is loaded with the first token. */
export const logins = plugin({
  port: Logins,
  name: 'logins',
  needs: { keys: IssuerKeys, settings: Settings, clock: Clock, log: Log },
  create: (supplied): Logins => {
    const hasIssuers = Object.keys(supplied.settings.issuers).length > 0
    const people = lazy(async () => (await proving()).provedLogins(supplied))
    return {
      takes: (credential) => hasIssuers && isToken(credential),
      find: async (token) => (await people())(token),
    }
  },
})
