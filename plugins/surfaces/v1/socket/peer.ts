import type { WebSocket } from 'ws'
import type { Clock } from '../../../../core/ports/platform.ts'
import type { Say } from './turn.ts'

/** In ms. */
export interface PeerBounds {
  readonly ping: number
  readonly stalled: number
}

/** Bytes that may wait for the peer before a turn waits for the peer too. */
const mostUnread = 256 * 1024
/** Pings and pongs of the peer between two pings of the gateway. */
const mostControls = 64

/** Codes that end a connection. */
export const codes = { normal: 1000, leaving: 1001, unsupported: 1003, refused: 1008, later: 1013 } as const

/** The other end of a connection: how fast it reads, and whether it still lives. */
export interface Peer {
  readonly say: Say
  /** Fires when the connection ends. */
  readonly gone: AbortSignal
  isOpen(): boolean
  /** A message came. */
  heard(): void
  end(code: number, reason: string): void
}

/** Watches the peer until the connection closes. */
export const watchedPeer = (socket: WebSocket, clock: Clock, bounds: PeerBounds): Peer => {
  const gone = new AbortController()
  const isOpen = (): boolean => socket.readyState === 1
  const end: Peer['end'] = (code, reason) => {
    gone.abort()
    socket.close(code, reason)
    // What a peer sends that breaks the rules costs no more time.
    if (code === codes.refused || code === codes.later) socket.pause()
  }
  const heard = pulse(socket, clock, bounds.ping, end)
  // The package closes the connection with the code of the fault by itself.
  socket.on('error', () => gone.abort())
  socket.on('close', () => gone.abort())
  return {
    ...{ gone: gone.signal, isOpen, end, heard },
    say: (text) =>
      new Promise((resolve) => {
        if (!isOpen()) return resolve()
        const isFull = socket.bufferedAmount > mostUnread
        const slow = isFull ? clock.alarm(bounds.stalled, () => end(codes.refused, 'The peer reads too slowly')) : null
        socket.send(text, { binary: false }, () => {
          slow?.off()
          resolve()
        })
        if (!isFull) resolve()
      }),
  }
}

/** Pings the peer, and answers its pings as long as they are few. */
const pulse = (socket: WebSocket, clock: Clock, ms: number, end: Peer['end']): (() => void) => {
  let [controls, isHeard] = [0, true]
  const isFlood = (): boolean => {
    if (++controls <= mostControls) return false
    end(codes.refused, 'Too many pings')
    return true
  }
  const beat = (): void => {
    controls = 0
    // A peer whose answers wait is watched by its reading.
    if (socket.bufferedAmount <= mostUnread) {
      if (!isHeard) return socket.terminate()
      isHeard = false
      socket.ping()
    }
    beating = clock.alarm(ms, beat)
  }
  let beating = clock.alarm(ms, beat)
  socket.on('pong', () => (isHeard = !isFlood()))
  socket.on('ping', (data: Buffer) => {
    if (socket.readyState === 1 && !isFlood()) socket.pong(data)
  })
  socket.on('close', () => beating.off())
  return () => void (isHeard = true)
}
