import { type Algorithm, type IssuerSettings, issuerSettings, type PersonGrant } from './issuer-settings.ts'
import type { Clock, Log } from '../../../core/ports/platform.ts'
import type { Settings } from '../../../core/settings.ts'
import type { Caller } from '../../../core/access/caller.ts'
import { complaining } from './complaining.ts'
import { credentialHash } from '../../../core/access/credential.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { type TokenFlaw, type Reason, tokenFlaw, tokenFlawOf, hasAudience } from './token-flaws.ts'
import { isSigned } from './token-signature.ts'
import { type UnprovedToken, readToken, claimAt } from './token.ts'
import { hash } from 'node:crypto'
import { isName } from '../../shared/names.ts'
import { type Scope, plainScopes } from '../../../core/access/scopes.ts'

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

type Claims = Readonly<Record<string, unknown>>

/** The texts of a claim: one, or each of a list. */
const textsOf = (claim: unknown): readonly string[] => {
  const all: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return all.flatMap((part) => (typeof part === 'string' || typeof part === 'boolean' ? [String(part)] : []))
}

const fits = (claims: Claims, { when }: PersonGrant): boolean =>
  Object.entries(when).every(([claim, value]) => textsOf(claimAt(claims, claim)).includes(value))

/** A name that begins so is hashed too, or a chosen `sub` could take the hash of another user. */
const hashed = 'sha256.'

/** The user's name, which no other claim gives. An invalid or ambiguous name becomes its hash. Null without the claim. */
const userOf = (claims: Claims, name: string, { user }: IssuerSettings): string | null => {
  const { claim, prefix = `${name}.` } = user
  const text = claimAt(claims, claim)
  if (typeof text !== 'string' || text === '') return null
  const whole = prefix + text
  return isName(whole) && !whole.startsWith(hashed) ? whole : hashed + hash('sha256', whole, 'hex')
}

/** Those of the grant; with a claim of scopes, those of them that it lists, too. */
const scopesOf = (claims: Claims, { scopes: claim }: IssuerSettings, { scopes }: PersonGrant): readonly Scope[] => {
  const given = scopes ?? plainScopes
  if (claim === undefined) return given
  const listed = new Set(textsOf(claimAt(claims, claim)).flatMap((text) => text.split(' ')))
  return given.filter((scope) => listed.has(scope))
}

/** Whom a proved token of the issuer with this name stands for, as the configuration has it. */
const personOf = (claims: Claims, name: string, issuer: IssuerSettings): Caller | TokenFlaw => {
  const user = userOf(claims, name, issuer)
  if (user === null) return tokenFlaw('user')
  const grant = issuer.grants.find((rule) => fits(claims, rule))
  if (grant === undefined) return tokenFlaw('grant')
  const { organization, models, limits, team } = grant
  return {
    key: `person_${hash('sha256', [name, organization, user].join('\n'), 'hex').slice(0, 32)}`,
    organization,
    user,
    ...(team !== undefined && { team }),
    scopes: scopesOf(claims, issuer, grant),
    models,
    limits,
  }
}
