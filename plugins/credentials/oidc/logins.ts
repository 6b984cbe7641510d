import { one } from '../../../core/container.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Credentials, KeptTeams } from '../../../core/ports/credentials.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'
import type { Caller } from '../../../core/access/caller.ts'
import { inTeam } from '../../../core/access/keyring.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { isToken } from './token.ts'
import { issuerSettings } from './issuer-settings.ts'

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
  renewed: true,
  sections: [issuerSettings],
  needs: { keys: IssuerKeys, settings: Settings, clock: Clock, log: Log },
  create: (supplied): Logins => {
    const hasIssuers = Object.keys(issuerSettings.of(supplied.settings)).length > 0
    const people = lazy(async () => (await proving()).provedLogins(supplied))
    return {
      takes: (credential) => hasIssuers && isToken(credential),
      find: async (token) => (await people())(token),
    }
  },
})

/** Tokens of issuers as credentials. A token is bound to no address. */
export const loginCredentials = plugin({
  port: Credentials,
  name: 'logins',
  renewed: true,
  needs: { logins: Logins, teams: KeptTeams },
  create: ({ logins, teams }): Credentials => ({
    takes: (credential) => logins.takes(credential),
    async find(token) {
      const person = await logins.find(token)
      const caller = person && (await inTeam(person, teams))
      return caller && { caller, admits: () => true }
    },
  }),
})
