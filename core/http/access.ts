import type { IncomingMessage } from 'node:http'
import { type Caller, hasScope } from '../access/caller.ts'
import type { Keyring } from '../access/keyring.ts'
import type { Credentials, Holder } from '../ports/credentials.ts'
import { Forbidden, GatewayError, Unauthorized, Unavailable } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { callerAddress } from './caller-address.ts'
import type { AnyRoute } from './route.ts'

/** What a route says of keys. */
type KeyedRoute = Pick<AnyRoute, 'access' | 'keyHeaders' | 'authorization'>

/**
 * The caller of a request. Null only on routes that need no key. Throws Unauthorized, Forbidden or
 * Unavailable.
 */
export type Admit = (
  request: IncomingMessage,
  route: KeyedRoute,
  credentials: readonly Credentials[],
) => Promise<Caller | null>

/** Decides on the matched route who may come in: 401 for every kind of bad key or token, 403 for a missing scope, 503 when keys can't be read. */
export const admitting = (
  keyring: Keyring,
  { trustedProxies, operators }: Pick<Settings, 'trustedProxies' | 'operators'>,
): Admit => {
  const addressOf = callerAddress(trustedProxies)
  const holderOf = (credential: string, credentials: readonly Credentials[]): Promise<Holder | null> => {
    for (const kind of credentials) if (kind.takes(credential)) return kind.find(credential)
    return keyring.find(credential)
  }
  return async (request, route, credentials) => {
    const { access } = route
    if (access === 'unasked') return null
    const credential = credentialOf(request, route)
    if (credential === null) {
      if (access === 'anyone') return null
      throw new Unauthorized()
    }
    const holder = await holderOf(credential, credentials).catch(unreadable)
    if (holder === null || !holder.admits(addressOf(request))) throw new Unauthorized()
    const { caller } = holder
    if (typeof access === 'object') {
      if (!hasScope(caller, access.scope)) throw lacking('scope', `Expected a key with ${access.scope}`)
      if (access.operators && !operators.includes(caller.organization))
        throw lacking('organization', 'Expected a key of an organisation of operators')
    }
    return caller
  }
}

const lacking = (what: string, expected: string): Forbidden =>
  new Forbidden('Missing required permissions', { validator: { [what]: expected } })

/** The caller of a request whose key is in memory; null where `admit` has to look for the key, or to refuse it. */
export type Recall = (request: IncomingMessage, route: KeyedRoute) => Caller | null

export const recalling = (keyring: Keyring, { trustedProxies }: Pick<Settings, 'trustedProxies'>): Recall => {
  const addressOf = callerAddress(trustedProxies)
  return (request, route) => {
    const { access } = route
    if (typeof access !== 'object' || access.operators === true) return null
    const credential = credentialOf(request, route)
    const holder = credential === null ? null : keyring.recall(credential)
    if (holder === null || !holder.admits(addressOf(request))) return null
    return hasScope(holder.caller, access.scope) ? holder.caller : null
  }
}

/** Null when no key was sent; empty, which no key is, when it is malformed or two keys differ. */
export const credentialOf = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  { keyHeaders = [], authorization: own }: Pick<KeyedRoute, 'keyHeaders' | 'authorization'> = {},
): string | null => {
  const authorization = own === undefined ? headers.authorization : own(headers)
  let credential = authorization === undefined ? null : (/^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? '')
  for (const name of keyHeaders) {
    const other = headers[name]?.toString() ?? credential
    if (credential !== null && credential !== other) return ''
    credential = other
  }
  return credential
}

const unreadable = (cause: unknown): never => {
  if (cause instanceof GatewayError) throw cause
  throw new Unavailable(undefined, { cause })
}
