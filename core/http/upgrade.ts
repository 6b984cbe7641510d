import type { IncomingMessage } from 'node:http'
import type { Settings } from '../settings.ts'
import { namedPath } from './named-path.ts'
import type { AnyRoute } from './route.ts'

/** Some clients try a WebSocket first, and come by plain HTTP at once when the answer is 426. */
const asksWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /\bwebsocket\b/i.test(headers.upgrade ?? '')

/** Of an answer that refuses the upgrade; the connection ends with it. */
export const overHttp = { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } as const

/** The route that a WebSocket was meant for, by the path of the request; null where none is tried so. */
export const webSocketRoutes = (routes: readonly AnyRoute[], settings: Settings) => {
  const byPath = new Map(
    routes.filter(({ webSocket }) => webSocket).map((route) => [namedPath(route.path, settings), route]),
  )
  return (request: IncomingMessage, path: string): AnyRoute | null =>
    asksWebSocket(request) ? (byPath.get(path) ?? null) : null
}
