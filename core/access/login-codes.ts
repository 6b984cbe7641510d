import { one } from '../container.ts'
import type { LoginSettings } from '../issuer-settings.ts'
import { lazy } from '../lazy.ts'
import { Lifecycle } from '../lifecycle.ts'
import { plugin } from '../plugin.ts'
import { Clock, Fetch, Log } from '../ports/platform.ts'
import { Settings } from '../settings.ts'
import type { Lent } from './console-sessions.ts'
import { IssuerKeys } from './issuer-keys.ts'
import type { LoginProof } from './login-proof.ts'
import { Logins } from './logins.ts'

/** A login that the console offers; all of it is public. */
export interface Offer {
  readonly name: string
  /** Where the login begins, without the secrets of the browser. */
  readonly authorize: string
  readonly redirect: string
}

/** Logins of the console by codes of issuers, with PKCE. */
export interface LoginCodes {
  offers(): readonly Offer[]
  /**
   * The access token behind a code, which the gateway takes as a credential. Null for every kind of bad code; only the log
   * has the reason. Throws Unavailable where the issuer can't be asked.
   */
  exchange(name: string, proof: LoginProof, signal: AbortSignal): Promise<Lent | null>
}

/** The port of the console's logins at issuers. */
export const LoginCodes = one<LoginCodes>('LoginCodes')

const exchanging = lazy(() => import('./exchanged-codes.ts'))

const offerOf = (name: string, { client, authorize, redirect, scope, parameters }: LoginSettings): Offer => {
  const address = new URL(authorize)
  const said = { ...parameters, response_type: 'code', client_id: client, redirect_uri: redirect, scope }
  for (const [field, value] of Object.entries(said)) address.searchParams.set(field, value)
  return { name, authorize: address.href, redirect }
}

/** The code for exchanges is loaded with the first login, so a gateway without issuers never loads it. */
export const loginCodes = plugin({
  port: LoginCodes,
  name: 'login-codes',
  needs: {
    ...{ fetch: Fetch, keys: IssuerKeys, logins: Logins, settings: Settings },
    ...{ clock: Clock, log: Log, lifecycle: Lifecycle },
  },
  create: (supplied): LoginCodes => {
    const issuers = Object.entries(supplied.settings.issuers)
    const codes = lazy(async () => (await exchanging()).exchangedCodes(supplied))
    return {
      offers: () => issuers.flatMap(([name, { login }]) => (login === undefined ? [] : [offerOf(name, login)])),
      exchange: async (name, proof, signal) => (await codes())(name, proof, signal),
    }
  },
})
