import { type Algorithm, type IssuerSettings, issuerSettings } from './issuer-settings.ts'
import type { Clock, Log } from '../../../core/ports/platform.ts'
import type { Settings } from '../../../core/settings.ts'
import type { Caller } from '../../../core/access/caller.ts'
import { complaining } from './complaining.ts'
import { credentialHash } from '../../../core/access/credential.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { personOf } from './person.ts'
import { type TokenFlaw, type Reason, tokenFlaw, tokenFlawOf, hasAudience } from './token-flaws.ts'
import { isSigned } from './token-signature.ts'
import { type UnprovedToken, readToken } from './token.ts'

/** Ms that a token is taken as it was found; no longer than a key. */
const freshMs = 5_000
/** Tokens that stay in memory by their hashes. When they are full all are dropped at once. */
const remembered = 10_000
/** Characters of a key's name, which anyone may invent. */
const longestKid = 256

type Named = readonly [name: string, issuer: IssuerSettings]

interface LoginNeeds {
  readonly keys: IssuerKeys
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
}

/** The person behind a token; null for every bad token, whose reason only the log has. */
export type FindPerson = (token: string) => Promise<Caller | null>

/** Looks at the cheap claims first and at the signature last, so an invented token costs little. */
export const provedLogins = ({ keys, settings, clock, log }: LoginNeeds): FindPerson => {
  const issuers = Object.entries(issuerSettings.of(settings))
  const known = new Map<string, { readonly caller: Caller; readonly since: number; readonly until: number }>()
  const complain = complaining(clock, log)

  const issuerOf = (token: UnprovedToken): Named | Reason => {
    const trusted = issuers.filter(([, { issuer }]) => issuer === token.claims['iss'])
    if (trusted.length === 0) return 'issuer'
    return trusted.find(([, { audience }]) => hasAudience(token, audience)) ?? 'audience'
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

  return async (text) => {
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
  }
}
