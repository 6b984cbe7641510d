import { hash } from 'node:crypto'
import type { IssuerSettings, PersonGrant } from './issuer-settings.ts'
import type { Caller } from '../../../core/access/caller.ts'
import { isName } from '../../shared/names.ts'
import { type Scope, plainScopes } from '../../../core/access/scopes.ts'
import { type TokenFlaw, tokenFlaw } from './token-flaws.ts'
import { claimAt } from './token.ts'

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
export const personOf = (claims: Claims, name: string, issuer: IssuerSettings): Caller | TokenFlaw => {
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
