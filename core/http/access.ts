import type { IncomingMessage } from 'node:http'
import { type Caller, hasScope } from '../access/caller.ts'
import type { ConsoleSessions } from '../access/console-sessions.ts'
import type { Holder, Keyring } from '../access/keyring.ts'
import type { Logins } from '../access/logins.ts'
import { Forbidden, GatewayError, Unauthorized, Unavailable } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { callerAddress } from './caller-address.ts'
import type { Access } from './route.ts'

/**
 * The caller of a request. Null only on routes that need no key. Throws Unauthorized, Forbidden or
 * Unavailable.
 */
export type Admit = (
  request: IncomingMessage,
  access: Access,
  logins: Logins,
  keyHeaders?: readonly string[],
) => Promise<Caller | null>

/** Decides on the matched route who may come in: 401 for every kind of bad key or token, 403 for a missing scope, 503 when keys can't be read. */
export const admitting = (
  keyring: Keyring,
  sessions: ConsoleSessions,
  { trustedProxies, operators }: Pick<Settings, 'trustedProxies' | 'operators'>,
): Admit => {
  const addressOf = callerAddress(trustedProxies)
  const holderOf = (credential: string, logins: Logins): Promise<Holder | null> => {
    if (logins.takes(credential)) return personWith(credential, logins)
    return sessions.takes(credential) ? sessions.find(credential) : keyring.find(credential)
  }
  return async (request, access, logins, keyHeaders) => {
    if (access === 'unasked') return null
    const credential = credentialOf(request, keyHeaders)
    if (credential === null) {
      if (access === 'anyone') return null
      throw new Unauthorized()
    }
    const holder = await holderOf(credential, logins).catch(unreadable)
    if (holder === null || !holder.admits(addressOf(request))) throw new Unauthorized()
    const { caller } = holder
    if (typeof access === 'object') {
      const may = !access.operators || operators.includes(caller.organization)
      if (!may || !hasScope(caller, access.scope)) throw new Forbidden('Missing required permissions')
    }
    return caller
  }
}

/** A token is bound to no address. */
const personWith = async (token: string, logins: Logins): Promise<Holder | null> => {
  const caller = await logins.find(token)
  return caller && { caller, admits: () => true }
}

/** Null when no key was sent; empty, which no key is, when it is malformed or two keys differ. */
export const credentialOf = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  keyHeaders: readonly string[] = [],
): string | null => {
  const { authorization } = headers
  const bearer = authorization === undefined ? null : (/^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? '')
  const others = keyHeaders.flatMap((name) => (headers[name] === undefined ? [] : [String(headers[name])]))
  const [first = null, ...rest] = bearer === null ? others : [bearer, ...others]
  return rest.every((it) => it === first) ? first : ''
}

const unreadable = (cause: unknown): never => {
  if (cause instanceof GatewayError) throw cause
  throw new Unavailable(undefined, { cause })
}
