import { type LoginSettings, issuerSettings } from './issuer-settings.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'
import { LoginCodes, type Offer } from '../../shared/login-codes-port.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { Logins } from './logins.ts'

const exchanging = lazy(() => import('./exchanged-codes.ts'))

const offerOf = (name: string, { client, authorize, redirect, scope, parameters }: LoginSettings): Offer => {
  const address = new URL(authorize)
  const fields = { ...parameters, response_type: 'code', client_id: client, redirect_uri: redirect, scope }
  for (const [field, value] of Object.entries(fields)) address.searchParams.set(field, value)
  return { name, authorize: address.href, redirect }
}

/** The code for exchanges is loaded with the first login, so a gateway without issuers never loads it. */
export const loginCodes = plugin({
  port: LoginCodes,
  name: 'login-codes',
  renewed: true,
  needs: {
    ...{ fetch: Fetch, keys: IssuerKeys, logins: Logins, settings: Settings },
    ...{ clock: Clock, log: Log, lifecycle: Lifecycle },
  },
  create: (supplied): LoginCodes => {
    const issuers = Object.entries(issuerSettings.of(supplied.settings))
    const codes = lazy(async () => (await exchanging()).exchangedCodes(supplied))
    return {
      offers: () => issuers.flatMap(([name, { login }]) => (login === undefined ? [] : [offerOf(name, login)])),
      exchange: async (name, proof, signal) => (await codes())(name, proof, signal),
    }
  },
})
