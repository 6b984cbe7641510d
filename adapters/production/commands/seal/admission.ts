import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refused } from './errors.ts'
import type { SameUser } from './owner.ts'

export interface Rules {
  /** Pages of these may use the port; of no other. */
  readonly origins: readonly string[]
  /** Every request must bring it as its key; null where the system tells whose a connection is. */
  readonly token: string | null
  readonly sameUser: SameUser | null
}

/** Throws unless the request may be served; true when it was a browser's question, and is answered. */
export type Admission = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** Only programs of this user, and pages of the listed origins, get to speak with the caller's key. */
export const admission = ({ origins, token, sameUser }: Rules): Admission => {
  const own = new WeakMap<Socket, Promise<boolean>>()
  const isOwn = (socket: Socket): Promise<boolean> => {
    const known = own.get(socket) ?? sameUser?.(socket) ?? Promise.resolve(true)
    own.set(socket, known)
    return known
  }
  const mustBeOwn = async (socket: Socket, response: ServerResponse): Promise<void> => {
    if (await isOwn(socket)) return
    response.setHeader('connection', 'close')
    throw new Refused(403, 'Only programs of the same user are served')
  }

  return async (request, response) => {
    const { headers, method, socket } = request
    mustBeLocal(headers.host ?? '')
    const page = pageOf(headers, origins)
    const asks = page !== null && method === 'OPTIONS'
    if (token === null) await mustBeOwn(socket, response)
    if (page !== null) response.setHeader('access-control-allow-origin', page).setHeader('vary', 'origin')
    // A browser asks without the key whether its page may send it.
    if (token !== null && !asks && !isToken(headers, token))
      throw new Refused(401, 'The key is not the token of this proxy')
    if (token !== null) await mustBeOwn(socket, response)
    if (!asks) return false
    const wanted = headers['access-control-request-headers'] ?? ''
    response.setHeader('access-control-allow-methods', 'GET, POST')
    if (/^[\w-]+(, ?[\w-]+)*$/.test(wanted)) response.setHeader('access-control-allow-headers', wanted)
    response.writeHead(204).end()
    return true
  }
}

const local = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/

/** A page could reach this port by a name of its own that leads here. */
const mustBeLocal = (host: string): void => {
  if (!local.test(host)) throw new Refused(403, 'Only programs of this machine are served')
}

/** The listed origin of the page that asks; null for a program that is no browser. */
const pageOf = (headers: IncomingMessage['headers'], origins: readonly string[]): string | null => {
  const { origin, 'sec-fetch-site': site = 'none' } = headers
  if (origin !== undefined && origins.includes(origin)) return origin
  if (origin !== undefined || (site !== 'none' && site !== 'same-origin'))
    throw new Refused(403, 'Pages of this origin are not served; --origin lists it')
  return null
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Headers in which clients of the dialects put their key. */
const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

/** Takes the same time wherever they differ. Of several keys all must be the token. */
const isToken = (headers: IncomingMessage['headers'], token: string): boolean => {
  const bearer = headers.authorization
  const given = [
    ...(bearer === undefined ? [] : [bearer]),
    ...keyHeaders.flatMap((name) => (headers[name] === undefined ? [] : [`Bearer ${String(headers[name])}`])),
  ]
  const wanted = digest(`Bearer ${token}`)
  return given.length > 0 && given.every((it) => timingSafeEqual(digest(it), wanted))
}
