import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Forbidden, Unauthorized } from '../../core/errors.ts'
import type { SameUser } from './socket-owner.ts'

/** Who may use the port. Its callers use the owner's key and read plaintext. */
export interface Rules {
  /** The only origins whose pages may use the port. */
  readonly origins: readonly string[]
  /** The key that every request must bring; null when the system names the owner of a connection. */
  readonly token: string | null
  readonly sameUser: SameUser | null
}

/** Throws unless the request may be served. True when the request was a browser's preflight and has its answer. */
export type Admission = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** Only programs of this user and pages of the listed origins use the caller's key. */
export const admission = ({ origins, token, sameUser }: Rules): Admission => {
  const own = new WeakMap<Socket, Promise<boolean>>()
  // The owner of a connection never changes, so that the kernel's tables are read once for each.
  const isOwn = (socket: Socket): Promise<boolean> => {
    const known = own.get(socket) ?? sameUser?.(socket) ?? Promise.resolve(true)
    own.set(socket, known)
    return known
  }
  const mustBeOwn = async (socket: Socket, response: ServerResponse): Promise<void> => {
    if (await isOwn(socket)) return
    response.setHeader('connection', 'close')
    throw new Forbidden('Only programs of the same user are served')
  }

  return async (request, response) => {
    const { headers, method, socket } = request
    mustBeLocal(headers.host ?? '')
    const page = pageOf(headers, origins)
    const isPreflight = page !== null && method === 'OPTIONS'
    if (token === null) await mustBeOwn(socket, response)
    if (page !== null) response.setHeader('access-control-allow-origin', page).setHeader('vary', 'origin')
    // A browser's preflight carries no key.
    if (token !== null && !isPreflight && !isToken(headers, token)) throw new Unauthorized()
    if (token !== null) await mustBeOwn(socket, response)
    if (!isPreflight) return false
    const wanted = headers['access-control-request-headers'] ?? ''
    response.setHeader('access-control-allow-methods', 'GET, POST')
    if (/^[\w-]+(, ?[\w-]+)*$/.test(wanted)) response.setHeader('access-control-allow-headers', wanted)
    response.writeHead(204).end()
    return true
  }
}

const local = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/

/** An attacker's page could reach this port by a host name that resolves to this machine. */
const mustBeLocal = (host: string): void => {
  if (!local.test(host)) throw new Forbidden('Only programs of this machine are served')
}

/** The listed origin of the asking page; null for a program other than a browser. */
const pageOf = (headers: IncomingMessage['headers'], origins: readonly string[]): string | null => {
  const { origin, 'sec-fetch-site': site = 'none' } = headers
  if (origin !== undefined && origins.includes(origin)) return origin
  if (origin !== undefined || (site !== 'none' && site !== 'same-origin'))
    throw new Forbidden('Pages of this origin are not served; --origin lists it')
  return null
}

/** Digests have one length, as the comparison in constant time demands. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Headers that carry the key in each dialect. */
export const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key', 'x-sealgate-key'] as const

/** The comparison takes the same time wherever the texts differ. Each of several keys must be the token. */
const isToken = (headers: IncomingMessage['headers'], token: string): boolean => {
  const bearer = headers.authorization
  const given = [
    ...(bearer === undefined ? [] : [bearer]),
    ...keyHeaders.flatMap((name) => (headers[name] === undefined ? [] : [`Bearer ${String(headers[name])}`])),
  ]
  const wanted = digest(`Bearer ${token}`)
  return given.length > 0 && given.every((credential) => timingSafeEqual(digest(credential), wanted))
}
