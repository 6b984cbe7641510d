import type { IncomingMessage } from 'node:http'
import { type BlockList, type Socket, SocketAddress, isIP, isIPv6 } from 'node:net'
import { blockListOf } from '../access/addresses.ts'

/** Where a request comes from, in one spelling for each address; null when it is unknown. */
export type CallerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null

/**
 * The peer, or the address that the outermost trusted proxy names in `X-Forwarded-For`. A proxy that names none is the
 * caller itself; a name that can't be read makes the address unknown.
 */
export const callerAddress = (trustedProxies: readonly string[]): CallerAddress => {
  const proxies = trustedProxies.length === 0 ? null : blockListOf(trustedProxies)
  return ({ headers, socket }) => {
    const peer = peerOf(socket)
    return proxies === null ? peer : beyond(peer, forwarded(headers['x-forwarded-for']), proxies)
  }
}

/** The address at the other end of a connection. */
export const peerOf = ({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null => spelled(remoteAddress ?? '')

/** Who sends from an address: of IPv6 the network of 64 bits, since a caller has all of it. */
export const senderOf = (address: string): string => {
  if (!isIPv6(address)) return address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':'))
  const zeros = Array<string>(8 - head.length - tail.length).fill('0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}

/** Whether a list has the address. Node checks a family only where the caller names it. */
export const isListed = (address: string, list: BlockList): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The first address from the right that is not a trusted proxy's. */
const beyond = (peer: string | null, entries: string[], proxies: BlockList): string | null => {
  let address = peer
  while (address !== null && isListed(address, proxies)) {
    const before = entries.pop()
    if (before === undefined) return address
    address = readEntry(before.trim())
  }
  return address
}

const forwarded = (header: string | readonly string[] | undefined): string[] =>
  header === undefined ? [] : String(header).split(',')

/** `1.2.3.4`, `1.2.3.4:80`, `::1`, `[::1]` or `[::1]:80`; null for all else. */
const readEntry = (entry: string): string | null => {
  const [, bracketed, dotted] = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i.exec(entry) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? spelled(bracketed) : null
  // A zone means something on the proxy's machine alone.
  return entry.includes('%') ? null : spelled(dotted ?? entry)
}

/** One spelling for each address: IPv4 within IPv6 is spelled as IPv4. Null for a text that is no address. */
const spelled = (address: string): string | null => {
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : null
  return mappedIn(address) ?? inOneSpelling(address)
}

const inOneSpelling = (address: string): string => {
  const one = new SocketAddress({ address, family: 'ipv6' }).address
  return mappedIn(one) ?? one
}

const mappedIn = (address: string): string | null => {
  const inner = address.startsWith('::ffff:') ? address.slice(7) : ''
  return isIP(inner) === 4 ? inner : null
}
