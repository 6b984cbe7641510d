import type { Choice } from '../config/load-plugin.ts'

/** Hosts that lead to this machine, as addresses of URLs spell them. */
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|\[::\])$/

/** Hosts that a server on all addresses of IPv4 answers for. */
const ofIpv4 = /^(?:localhost|127\.|0\.)/

const leadsTo = (host: string, own: string): boolean => {
  if (host === own || (own === '[::]' && loopback.test(host))) return true
  return own === '0.0.0.0' ? ofIpv4.test(host) : host === 'localhost' && loopback.test(own)
}

/**
 * The providers whose address is the gateway's own at this URL: their calls would come back. A gateway that is reached by
 * another name stays unknown.
 */
export const ownProviders = (providers: Readonly<Record<string, Choice>>, url: string): readonly string[] => {
  const own = new URL(url)
  return Object.entries(providers).flatMap(([name, { baseUrl }]) => {
    if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) return []
    const { protocol, port, hostname } = new URL(baseUrl)
    return protocol === 'http:' && port === own.port && leadsTo(hostname, own.hostname) ? [name] : []
  })
}
