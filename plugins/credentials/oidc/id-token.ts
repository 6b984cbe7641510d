import type { Algorithm, IssuerSettings } from './issuer-settings.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { type TokenFlaw, flawOfTimes, hasAudience, tokenFlaw } from './token-flaws.ts'
import { isSigned } from './token-signature.ts'
import { readToken } from './token.ts'

/** For whom and for which login an ID token has to be. */
export interface Expected {
  readonly name: string
  readonly issuer: IssuerSettings
  readonly client: string
  readonly nonce: string
}

/**
 * What is wrong with the ID token of a login (OpenID Connect Core, 3.1.3.7); null where it is the issuer's word on this
 * login of this client. Throws Unavailable while the issuer's keys are out of reach.
 */
export const idTokenFlawOf = async (
  text: string,
  { name, issuer, client, nonce }: Expected,
  keys: IssuerKeys,
  now: number,
): Promise<TokenFlaw | null> => {
  const token = readToken(text)
  if (token === null) return tokenFlaw('malformed')
  const { header, claims } = token
  const { azp = client } = claims
  if (claims['iss'] !== issuer.issuer) return tokenFlaw('issuer')
  if (!hasAudience(token, client) || azp !== client) return tokenFlaw('audience')
  const algorithm = issuer.algorithms.find((known) => known === header['alg'])
  if (algorithm === undefined) return tokenFlaw('algorithm')
  const late = flawOfTimes(token, issuer, now)
  if (late !== null) return late
  if (claims['nonce'] !== nonce) return tokenFlaw('nonce')
  return (await isOfIssuer(text, header['kid'], algorithm, { name, issuer }, keys)) ? null : tokenFlaw('signature')
}

const isOfIssuer = async (
  text: string,
  kid: unknown,
  algorithm: Algorithm,
  { name, issuer }: Pick<Expected, 'name' | 'issuer'>,
  keys: IssuerKeys,
): Promise<boolean> => {
  const key = await keys.find(name, issuer.keys, typeof kid === 'string' ? kid : null, algorithm)
  return key !== null && isSigned(text, key, algorithm)
}
