import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { listed } from '../access/addresses.ts'
import type { Caller } from '../access/caller.ts'
import type { Keyring } from '../access/keyring.ts'
import { Forbidden, GatewayError, Unauthorized, Unavailable } from '../errors.ts'
import type { Settings } from '../settings.ts'
import type { Access } from './route.ts'

export type Admit = (request: IncomingMessage, access: Access) => Promise<Caller | null>

/** Decides on the matched route who may come in: 401 for every kind of bad key, 403 for a missing scope, 503 when the keys can't be read. */
export const admitting = (
  keyring: Keyring,
  { trustedProxies, operators }: Pick<Settings, 'trustedProxies' | 'operators'>,
): Admit => {
  const proxies = trustedProxies.length === 0 ? null : listed(trustedProxies)
  return async (request, access) => {
    if (access === 'unasked') return null
    const header = request.headers.authorization
    if (header === undefined) {
      if (access === 'anyone') return null
      throw new Unauthorized()
    }
    const credential = /^Bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1] ?? ''
    const holder = await keyring.find(credential).catch(unreadable)
    if (holder === null || !holder.admits(addressOf(request, proxies))) throw new Unauthorized()
    const { caller } = holder
    if (typeof access === 'object') {
      const may = !access.operators || operators.includes(caller.organization)
      if (!may || !caller.scopes.includes(access.scope)) throw new Forbidden('Missing required permissions')
    }
    return caller
  }
}

const unreadable = (cause: unknown): never => {
  if (cause instanceof GatewayError) throw cause
  throw new Unavailable(undefined, { cause })
}

/** The peer, or what the outermost trusted proxy says of it. */
const addressOf = (request: IncomingMessage, proxies: BlockList | null): string => {
  let address = unmapped(request.socket.remoteAddress ?? '')
  const said = String(request.headers['x-forwarded-for'] ?? '').split(',')
  while (proxies !== null && isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) {
    const before = unmapped(said.pop()?.trim() ?? '')
    if (isIP(before) === 0) break
    address = before
  }
  return address
}

const unmapped = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address)
