import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Gateway } from '../../core/gateway.ts'
import type { Lasting } from '../contracts/stage.ts'

/** Throws unless all of them are closed soon. */
export const closing = async (sockets: readonly Socket[]): Promise<void> => {
  for (const until = performance.now() + 2000; sockets.some(({ closed }) => !closed); await wait(5)) {
    if (performance.now() > until) throw new Error('A socket stays open')
  }
}

/** Where it listens, and who came. */
export const listening = async (t: Test, server: Server, host: string) => {
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket.on('error', () => {})))
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

/** Opens the server on a free port of loopback until the test ends. Gives its address. */
export const opensHttp = async (t: Lasting, server: HttpServer | HttpsServer): Promise<string> => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Serves the gateway until the test ends. Gives its address. */
export const servesGateway = (t: Lasting, gateway: Pick<Gateway, 'server' | 'close'>): Promise<string> => {
  t.teardown(() => gateway.close())
  return opensHttp(t, gateway.server())
}

/** In ms: the longest start of a server that a busy machine is allowed. */
export const comesUpIn = 60_000

/** A port of loopback that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
