import { BlockList, isIP } from 'node:net'
import { BadRequest } from '../../../core/errors.ts'

/** The addresses that a user or a model may reach. The policy is pure: it resolves no name and opens no connection. */
export interface Egress {
  /** The address for the connection. Throws BadRequest. */
  target(url: string, base?: URL): URL
  /** Throws BadRequest unless the policy allows every address of `host`. */
  check(host: string, addresses: readonly string[]): void
}

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** One list per family: Node would otherwise match an IPv4 address against the IPv6 ranges that embed it. */
const ranges = (cidrs: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [net = '', bits] = cidr.split('/')
    list.addSubnet(net, bits === undefined ? (isIP(net) === 6 ? 128 : 32) : Number(bits), family(net))
  }
  return list
}

// IANA's special-purpose registry, and Azure's metadata host, whose address looks public.
const closed4 = ranges(
  (
    '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
    '192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 ' +
    '198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
  ).split(' '),
)

// Only global unicast is open. Mapped, compatible, NAT64, unique-local, link-local and multicast addresses lie outside.
const open6 = ranges(['2000::/3'])

// Protocol assignments with Teredo and benchmarking, documentation, 6to4, AS112.
const closed6 = ranges('2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20'.split(' '))

/** Special ranges of IPv4 are listed one by one; in IPv6, everything outside of 2000::/3 is closed. */
const isPublic = (address: string): boolean =>
  isIP(address) === 4
    ? !closed4.check(address, 'ipv4')
    : open6.check(address, 'ipv6') && !closed6.check(address, 'ipv6')

/** Names that only resolve inside of a network, or that no public name server may answer. */
const privateName =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|test|invalid|onion|alt)$/
/** A name without a dot is a machine of the own network. */
const dotted = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/

/** An address counts as a range of one. A zone (`%`) names an interface of this machine and is refused. */
const isRange = (host: string): boolean => {
  const [net = '', bits, more] = host.split('/')
  const version = isIP(net)
  if (version === 0 || net.includes('%') || more !== undefined) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
}

/** True when an operator may allow `it`: a host name, an address or a CIDR range. */
export const isPermit = (permit: string): boolean =>
  isRange(permit) || (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(permit) && !/^[\d.]+$/.test(permit))

/** One text for all refusals: a caller must not learn which names and addresses exist inside. */
const refuse = (): never => {
  throw new BadRequest('The address is not allowed')
}

/** The host without the brackets of IPv6 and without the final dot. */
export const bare = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

/** `allow` opens private hosts and ranges, and no port: every address must use one of `ports`. */
export const makeEgress = (allow: readonly string[], ports: readonly number[]): Egress => {
  const permitted = ranges(allow.filter(isRange))
  const hosts = new Set(allow.filter((entry) => !isRange(entry)).map((entry) => entry.toLowerCase()))
  const doors = new Set(ports)

  const admits = (address: string): boolean =>
    isIP(address) !== 0 && !address.includes('%') && (isPublic(address) || permitted.check(address, family(address)))

  return {
    target(text, base) {
      if (text.length > 8192 || !URL.canParse(text, base?.href)) return refuse()
      const url = new URL(text, base)
      const usual = url.protocol === 'http:' ? 80 : url.protocol === 'https:' ? 443 : refuse()
      if (url.username || url.password) return refuse()
      if (!doors.has(url.port ? Number(url.port) : usual)) return refuse()
      const host = bare(url)
      if (isIP(host) ? !admits(host) : !hosts.has(host) && (!dotted.test(host) || privateName.test(host))) refuse()
      return url
    },
    check(host, addresses) {
      if (addresses.length === 0) refuse()
      for (const address of addresses) {
        if (isIP(address) === 0 || (!hosts.has(host) && !admits(address))) refuse()
      }
    },
  }
}
