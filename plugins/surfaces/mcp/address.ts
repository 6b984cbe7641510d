import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Forbidden } from '../../../core/errors.ts'
import type { Settings } from '../../../core/settings.ts'
import { mcpSettings } from './settings.ts'

/** What a header names, without its port; null for what is no host. */
const hostOf = (host: string | undefined): string | null =>
  host !== undefined && /^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`)
    ? new URL(`http://${host}`).hostname
    : null

/** A name of another's domain may be made to lead here; an address, and the names of this machine, may not. */
const isPlain = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || isIP(host.replace(/^\[|\]$/g, '')) !== 0

/** A header that names no host (null) is never the own one. */
const isOwn = (host: string | null, settings: Settings): boolean => {
  const { url } = mcpSettings.of(settings)
  return host !== null && (isPlain(host) || (url !== undefined && new URL(url).hostname === host))
}

/** Throws Forbidden for a page of another origin, and for a name that the configuration doesn't give to this endpoint. */
export const admitPlace = ({ host, origin }: IncomingHttpHeaders, settings: Settings): void => {
  if (!isOwn(hostOf(host), settings))
    throw new Forbidden('The endpoint is not known by this host', { validator: { host: 'Expected that of mcp.url' } })
  if (origin === undefined || settings.cors.origins.includes(origin)) return
  const own = URL.canParse(origin) ? new URL(origin) : null
  const sameHost = own !== null && hostOf(own.host) === hostOf(host) && isOwn(hostOf(own.host), settings)
  if (!sameHost)
    throw new Forbidden('Pages of this origin may not call', { validator: { origin: 'Expected one of cors.origins' } })
}
