import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { listed } from '../access/addresses.ts'
import { isIP } from 'node:net'
import type { Settings } from '../settings.ts'

/** Sockets whose caller has shown a valid key. */
const known = new WeakSet<Socket>()
/** What is to be done when a socket's caller becomes known. */
const counted = new WeakMap<Socket, () => void>()

/** The socket of this request counts no longer among those without a key. */
export const showsKey = ({ socket }: IncomingMessage): void => {
  if (known.has(socket)) return
  known.add(socket)
  counted.get(socket)?.()
}

/**
 * Bounds the connections of a server: all of them, and for each address those that have shown no valid key yet. The
 * addresses of trusted proxies stand for many callers and have no bound of their own.
 */
export const capped = (
  server: Server,
  { most, keyless }: Settings['connections'],
  trustedProxies: readonly string[],
): void => {
  server.maxConnections = most
  const proxies = listed(trustedProxies)
  const counts = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    if (isIP(address) !== 0 && proxies?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return
    const count = counts.get(address) ?? 0
    if (count >= keyless) return void socket.destroy()
    counts.set(address, count + 1)
    let open = true
    const leave = () => {
      if (!open) return
      open = false
      const left = counts.get(address)! - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    }
    counted.set(socket, leave)
    socket.once('close', leave)
  })
}
