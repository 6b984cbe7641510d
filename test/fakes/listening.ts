import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'

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
