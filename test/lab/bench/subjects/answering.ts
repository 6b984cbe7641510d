import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that closes no resting connection: its end could meet the next request of a round. */
export const lasting = (server: Server): Server => {
  server.keepAliveTimeout = 0
  return server
}

/** Listens on a free port and answers what the measuring process asks. */
export const answering = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
  process.on('message', (question) => {
    if (question === 'cpu') {
      const { user, system } = process.cpuUsage()
      process.send!(user + system)
    }
    if (question === 'memory') {
      globalThis.gc?.()
      process.send!(process.memoryUsage().rss)
    }
  })
}
