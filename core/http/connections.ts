import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { blockListOf } from '../access/addresses.ts'
import type { Settings } from '../settings.ts'
import { isListed, peerOf, senderOf } from './caller-address.ts'

/** Sockets whose caller has shown no valid key yet, each with its way out of the count. */
const keylessSockets = new WeakMap<Socket, () => void>()

/** Whether the connection has shown a valid key, or counts for no address. */
export const hasShownKey = ({ socket }: IncomingMessage): boolean => !keylessSockets.has(socket)

/** The socket of this request counts no longer among the sockets without a key. */
export const showsKey = ({ socket }: IncomingMessage): void => keylessSockets.get(socket)?.()

/** Changes the count of a sender, and gives it. A count of none is forgotten. */
export const recount = (counts: Map<string, number>, sender: string, change: number): number => {
  const count = (counts.get(sender) ?? 0) + change
  if (count > 0) counts.set(sender, count)
  else counts.delete(sender)
  return count
}

/**
 * Bounds the connections of a server: all of them, and for each sender those that have shown no valid key yet. The
 * addresses of trusted proxies stand for many callers and have no bound of their own.
 */
export const capped = (
  server: Server,
  { most, keyless }: Settings['connections'],
  trustedProxies: readonly string[],
): void => {
  server.maxConnections = most
  const proxies = blockListOf(trustedProxies)
  const counts = new Map<string, number>()

  server.on('connection', (socket) => {
    // A connection that goes back to HTTP comes here again.
    if (keylessSockets.has(socket)) return
    const peer = peerOf(socket)
    if (peer !== null && proxies !== null && isListed(peer, proxies)) return
    const sender = senderOf(peer ?? '')
    if ((counts.get(sender) ?? 0) >= keyless) return void socket.destroy()
    recount(counts, sender, 1)
    const uncount = (): void => {
      if (keylessSockets.delete(socket)) recount(counts, sender, -1)
    }
    keylessSockets.set(socket, uncount)
    socket.once('close', uncount)
  })
}
