import { one } from '../container.ts'
import type { Algorithm, IssuerSettings } from '../issuer-settings.ts'
import { plugin } from '../plugin.ts'
import { Clock, Log } from '../ports/platform.ts'
import { Settings } from '../settings.ts'
import type { Caller } from './caller.ts'
import { complaining } from './complaining.ts'
import { credentialHash } from './credential.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { personOf } from './person.ts'
import { type TokenFlaw, type Reason, tokenFlaw, tokenFlawOf, hasAudience } from './token-flaws.ts'
import { isSigned } from './token-signature.ts'
import { isToken, type UnprovedToken, readToken } from './token.ts'

/** People who show an access token of an issuer of the configuration in the place of a key. */
export interface Logins {
  /** Whether a credential is looked at as a token here. Never where there is no issuer. */
  takes(credential: string): boolean
  /** Null for every bad token; only the log has the reason. Throws Unavailable while the issuer's keys are out of reach. */
  find(token: string): Promise<Caller | null>
}

export const Logins = one<Logins>('Logins')

/** Ms that a token is taken as it was found; no longer than a key. */
const freshMs = 5_000
const remembered = 10_000
const longestKid = 256

type Named = readonly [name: string, issuer: IssuerSettings]

export const logins = plugin({
  port: Logins,
  name: 'logins',
  needs: { keys: IssuerKeys, settings: Settings, clock: Clock, log: Log },
  create: ({ keys, settings, clock, log }): Logins => {
    const issuers = Object.entries(settings.issuers)
    const known = new Map<string, { readonly caller: Caller; readonly since: number; readonly until: number }>()
    const complain = complaining(clock, log)

    const issuerOf = (token: UnprovedToken): Named | Reason => {
      const its = issuers.filter(([, { issuer }]) => issuer === token.claims['iss'])
      if (its.length === 0) return 'issuer'
      return its.find(([, { audience }]) => hasAudience(token, audience)) ?? 'audience'
    }

    const proved = async (text: string, token: UnprovedToken, [name, issuer]: Named): Promise<Caller | TokenFlaw> => {
      const bad = tokenFlawOf(token, issuer, clock.now())
      if (bad !== null) return bad
      const { alg, kid = null } = token.header
      if (kid !== null && (typeof kid !== 'string' || kid.length > longestKid)) return tokenFlaw('key')
      const algorithm = alg as Algorithm
      const key = await keys.find(name, issuer.keys, kid, algorithm)
      if (key === null) return tokenFlaw('key')
      return (await isSigned(text, key, algorithm)) ? personOf(token.claims, name, issuer) : tokenFlaw('signature')
    }

    return {
      takes: (credential) => issuers.length > 0 && isToken(credential),

      async find(text) {
        const hash = credentialHash(text)
        const now = clock.now()
        const seen = known.get(hash)
        if (seen !== undefined && now >= seen.since && now < seen.until) return seen.caller
        known.delete(hash)
        const token = readToken(text)
        const named = token === null ? 'malformed' : issuerOf(token)
        if (token === null || typeof named === 'string') {
          complain(null, tokenFlaw(named as Reason))
          return null
        }
        const found = await proved(text, token, named)
        if ('reason' in found) {
          complain(named[0], found)
          return null
        }
        if (known.size >= remembered) known.clear()
        const over = Number(token.claims['exp']) * 1000 + named[1].skew
        known.set(hash, { caller: found, since: now, until: Math.min(now + freshMs, over) })
        return found
      },
    }
  },
})
