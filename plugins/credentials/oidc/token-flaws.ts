import type { IssuerSettings } from './issuer-settings.ts'
import type { UnprovedToken } from './token.ts'

/** Why a token is refused, for the log of the operator. */
export type Reason =
  | 'malformed'
  | 'issuer'
  | 'audience'
  | 'algorithm'
  | 'type'
  | 'critical'
  | 'identity'
  | 'times'
  | 'lifetime'
  | 'expired'
  | 'early'
  | 'key'
  | 'signature'
  | 'user'
  | 'grant'
  | 'code'
  | 'nonce'

/** What is wrong with a token. Callers never see it: an attacker could use the answer to repair a token. */
export interface TokenFlaw {
  readonly reason: Reason
  /** How far the token is outside its times by our clock; null for other reasons. */
  readonly seconds: number | null
}

/** Only `expired` and `early` have seconds. */
export const tokenFlaw = (reason: Reason, seconds: number | null = null): TokenFlaw => ({ reason, seconds })

/** Claims of ID tokens and of logout tokens, which give access to nothing. */
const identities = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events']

/** `aud` is one text or a list of them (RFC 7519, 4.1.3). Both are compared to the letter. */
export const hasAudience = ({ claims }: UnprovedToken, audience: string): boolean => {
  const { aud } = claims
  return Array.isArray(aud) ? aud.includes(audience) : aud === audience
}

/** What stands before a type says nothing, and letters have no case (RFC 7515, 4.1.9). */
const typeOf = (typ: unknown): string | null => {
  if (typ === undefined) return ''
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : null
}

/** What is wrong with a token of this issuer, before its signature is looked at; null where nothing is. */
export const tokenFlawOf = (token: UnprovedToken, issuer: IssuerSettings, now: number): TokenFlaw | null =>
  flawOfHeader(token, issuer) ?? flawOfTimes(token, issuer, now)

const flawOfHeader = ({ header, claims }: UnprovedToken, issuer: IssuerSettings): TokenFlaw | null => {
  const { alg, typ, crit } = header
  if (!issuer.algorithms.some((known) => known === alg)) return tokenFlaw('algorithm')
  const type = typeOf(typ)
  if (!issuer.types.some((known) => known.toLowerCase() === type)) return tokenFlaw('type')
  if (crit !== undefined) return tokenFlaw('critical')
  return identities.some((name) => Object.hasOwn(claims, name)) || isIdentity(claims['typ'])
    ? tokenFlaw('identity')
    : null
}

/** Some issuers say the kind of a token in a claim. */
const isIdentity = (typ: unknown): boolean => typeof typ === 'string' && /^(id|refresh|offline|logout)$/i.test(typ)

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** What is wrong with the times of a token; null where nothing is. */
export const flawOfTimes = (
  { claims }: UnprovedToken,
  { skew, lifetime }: IssuerSettings,
  now: number,
): TokenFlaw | null => {
  const { exp, iat, nbf = iat } = claims
  if (!isTime(exp) || !isTime(iat) || !isTime(nbf)) return tokenFlaw('times')
  if ((exp - iat) * 1000 > lifetime) return tokenFlaw('lifetime')
  const over = now - exp * 1000
  if (over >= skew) return tokenFlaw('expired', Math.round(over / 1000))
  const early = Math.max(nbf, iat) * 1000 - now
  return early > skew ? tokenFlaw('early', Math.round(early / 1000)) : null
}
