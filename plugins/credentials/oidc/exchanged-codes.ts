import { withDeadline } from '../../shared/stop-with.ts'
import { boundedBody } from '../../shared/bounded-body.ts'
import { TooMany, Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import { type IssuerSettings, type LoginSettings, issuerSettings, type Algorithm } from './issuer-settings.ts'
import type { Lifecycle } from '../../../core/lifecycle.ts'
import type { Answer, Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import type { Settings } from '../../../core/settings.ts'
import { complaining } from './complaining.ts'
import type { Lent, LoginProof } from '../../shared/login-codes-port.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { Logins } from './logins.ts'
import { type TokenFlaw, tokenFlaw, flawOfTimes, hasAudience } from './token-flaws.ts'
import { readToken } from './token.ts'
import { isSigned } from './token-signature.ts'

/** Ms for a whole answer. */
const patienceMs = 10_000
const mostBytes = 64 * 1024
/** Exchanges under way at once in a process: the sender of a code has proved nothing yet. */
const mostAtOnce = 32

type Tokens = Readonly<Record<string, unknown>>

/** As RFC 6749, 2.3.1, has it. */
const basic = (client: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(client)}:${encodeURIComponent(secret)}`).toString('base64')}`

const membersOf = (text: string): Tokens => {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body as Tokens
  } catch (cause) {
    throw new UpstreamFailed('The answer of the issuer is no JSON', { cause })
  }
  throw new UpstreamFailed('The answer of the issuer is no object')
}

/** The tokens behind a code; null where the issuer does not take the code. */
const tokensIn = async (answer: Answer): Promise<Tokens | null> => {
  const tokens = membersOf((await boundedBody(answer, mostBytes)).toString('utf8'))
  if (answer.status === 400 && tokens['error'] === 'invalid_grant') return null
  if (answer.status !== 200) throw new UpstreamFailed('The issuer gave no tokens', { answered: answer.status })
  return tokens
}

const asking =
  (fetch: Fetch, clock: Clock) =>
  async (login: LoginSettings, { code, verifier }: LoginProof, outer: AbortSignal): Promise<Tokens | null> => {
    const { client, secret, token, redirect, parameters } = login
    const body = new URLSearchParams({
      ...parameters,
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirect, client_id: client },
    })
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(secret !== undefined && { authorization: basic(client, secret) }),
    }
    const late = () => new UpstreamFailed('The issuer took too long')
    const { signal, off } = withDeadline(clock, patienceMs, outer, late)
    try {
      return await tokensIn(await fetch.upstream(token, { method: 'POST', headers, body: body.toString(), signal }))
    } finally {
      off()
    }
  }

/** Lets so many works run at once. */
const atMost = (most: number) => {
  let under = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (under >= most) throw new TooMany('Too many requests', { retryAfter: 1000 })
    under++
    try {
      return await work()
    } finally {
      under--
    }
  }
}

interface CodeNeeds {
  readonly fetch: Fetch
  readonly keys: IssuerKeys
  readonly logins: Logins
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  readonly lifecycle: Lifecycle
}

/** The access token behind a code; null for every kind of bad code, whose reason only the log has. */
export type ExchangeCode = (name: string, proof: LoginProof, signal: AbortSignal) => Promise<Lent | null>

/**
 * Exchanges codes at the token endpoints of the configured issuers (RFC 6749, 4.1.3, with PKCE of RFC 7636).
 * The function throws TooMany when 32 exchanges are under way.
 */
export const exchangedCodes = ({ fetch, keys, logins, settings, clock, log, lifecycle }: CodeNeeds): ExchangeCode => {
  const issuers = new Map(Object.entries(issuerSettings.of(settings)))
  const ask = asking(fetch, clock)
  const inTurn = atMost(mostAtOnce)
  const complain = complaining(clock, log)

  const tokensOf = async (name: string, login: LoginSettings, proof: LoginProof, signal: AbortSignal) => {
    const either = AbortSignal.any([signal, lifecycle.closing])
    return ask(login, proof, either).catch((cause: unknown) => {
      if (either.aborted) throw either.reason
      const status = cause instanceof UpstreamFailed ? cause.answered : null
      log.error('issuer.unreachable', { issuer: name, status }, cause)
      throw new Unavailable('The issuer is out of reach', { cause })
    })
  }

  /** The access token of this issuer for this login; null where the gateway does not take it, and has told why. */
  const provedOf = async (
    name: string,
    issuer: IssuerSettings,
    { client }: LoginSettings,
    { nonce }: LoginProof,
    { id_token: id, access_token: access }: Tokens,
  ): Promise<Lent | TokenFlaw | null> => {
    if (typeof id !== 'string' || typeof access !== 'string') return tokenFlaw('malformed')
    const flaw = await idTokenFlawOf(id, { name, issuer, client, nonce }, keys, clock.now())
    if (flaw !== null) return flaw
    const { iss, exp } = readToken(access)?.claims ?? {}
    // Another issuer of the configuration would open another organisation.
    if (iss !== issuer.issuer) return tokenFlaw('issuer')
    const isTaken = (await logins.find(access)) !== null
    return isTaken ? { credential: access, expires_at: Number(exp) * 1000 } : null
  }

  return async (name, proof, signal) => {
    const issuer = issuers.get(name)
    if (issuer?.login === undefined) return null
    const { login } = issuer
    const refuse = (flaw: TokenFlaw): null => {
      complain(name, flaw)
      return null
    }
    if (proof.iss !== undefined && proof.iss !== issuer.issuer) return refuse(tokenFlaw('issuer'))
    const tokens = await inTurn(() => tokensOf(name, login, proof, signal))
    if (tokens === null) return refuse(tokenFlaw('code'))
    const proved = await provedOf(name, issuer, login, proof, tokens)
    return proved !== null && 'reason' in proved ? refuse(proved) : proved
  }
}

/** For whom and for which login an ID token has to be. */
interface Expected {
  readonly name: string
  readonly issuer: IssuerSettings
  readonly client: string
  readonly nonce: string
}

/**
 * What is wrong with the ID token of a login (OpenID Connect Core, 3.1.3.7); null where it is the issuer's word on this
 * login of this client. Throws Unavailable while the issuer's keys are out of reach.
 */
const idTokenFlawOf = async (
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
