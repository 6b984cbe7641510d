import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { GatewayError } from '../../../../core/errors.ts'
import type { HeldBytes } from '../../../../core/http/route.ts'
import type { Clock } from '../../../../core/ports/platform.ts'
import { codes, type Peer, type PeerBounds, watchedPeer } from './peer.ts'
import type { Say, TurnEnd } from './turn.ts'

/** In ms, but for the bytes of a message. */
export interface ConnectionBounds extends PeerBounds {
  readonly idle: number
  readonly life: number
  readonly message: number
}

/** Plays what one message asks for. The message may ask for no turn. */
export type Play = (message: Buffer, say: Say, signal: AbortSignal) => Promise<TurnEnd | 'no turn'>

interface Given {
  /** What the connection runs on. Its event `frame` tells the bytes of a frame before they come. */
  readonly wire: Duplex
  readonly held: HeldBytes
  readonly clock: Clock
  readonly bounds: ConnectionBounds
  /** Fires when the gateway ends. */
  readonly draining: AbortSignal
  readonly play: Play
}

/** Bytes of a message on its way in that are held at once. */
const block = 256 * 1024
/** Messages that may wait behind a turn. */
const mostWaiting = 4
/** Messages without a turn that may come between two turns. */
const mostIdle = 16

const lifeError = JSON.stringify({
  type: 'error',
  status: 400,
  error: {
    message: 'The connection has lived as long as it may; open another one',
    type: 'invalid_request_error',
    param: null,
    code: 'websocket_connection_limit_reached',
  },
})

/** Plays the turns of one connection, one after the other, until one of its bounds or its peer ends it. */
export const serveConnection = (socket: WebSocket, given: Given): void => {
  const { wire, held, clock, bounds, draining, play } = given
  const peer = watchedPeer(socket, clock, bounds)
  const turns = turnsOf(peer, play, bounds.message, held)
  const coming = messageComing(wire, peer, held)
  const rests = () => clock.alarm(bounds.idle, () => peer.end(codes.normal, 'No turn for too long'))
  let resting = rests()
  const living = clock.alarm(bounds.life, () => {
    void peer.say(lifeError)
    turns.endLater(codes.leaving, 'The connection has lived as long as it may')
  })
  const drain = (): void => turns.endLater(codes.leaving, 'The gateway ends')

  socket.on('message', (message: Buffer, isBinary: boolean) => {
    peer.heard()
    if (isBinary) return peer.end(codes.unsupported, 'Messages are text')
    if (!coming.whole(message.length)) return
    resting.off()
    void turns.take(message).then((isIdle) => {
      if (isIdle && peer.isOpen()) resting = rests()
    })
  })
  socket.on('close', () => {
    draining.removeEventListener('abort', drain)
    for (const alarm of [resting, living]) alarm.off()
  })
  if (draining.aborted) drain()
  else draining.addEventListener('abort', drain)
}

/** Has the bytes of a message held as its frames begin. The connection ends where its caller has no room for them. */
const messageComing = (wire: Duplex, peer: Peer, held: HeldBytes) => {
  /** Bytes of the frames since the last message, and those of them that are held. */
  let [came, counted] = [0, 0]
  const isHeld = (bytes: number): boolean => {
    try {
      held.grow(bytes)
      return true
    } catch (fault) {
      if (!(fault instanceof GatewayError)) throw fault
      peer.end(codes.later, 'Too many bytes under way')
      return false
    }
  }
  wire.on('frame', (bytes: number) => {
    came += bytes
    if (came - counted < block || !peer.isOpen() || !isHeld(came - counted)) return
    counted = came
  })
  return {
    /** Holds exactly the bytes of the message that has come; false where there is no room. */
    whole(bytes: number): boolean {
      const more = bytes - counted
      came = counted = 0
      if (more > 0) return isHeld(more)
      held.shrink(-more)
      return true
    },
  }
}

/** The messages of one connection, in their order. Each is held until its turn has been played. */
const turnsOf = (peer: Peer, play: Play, mostBytes: number, held: HeldBytes) => {
  const waiting: Buffer[] = []
  let [bytes, idle, isBusy] = [0, 0, false]
  /** What ends the connection behind the turn that plays. */
  let later: readonly [code: number, reason: string] | null = null

  const playAll = async (): Promise<void> => {
    while (later === null && peer.isOpen()) {
      const message = waiting.shift()
      if (message === undefined) break
      bytes -= message.length
      const ended = await play(message, peer.say, peer.gone)
      held.shrink(message.length)
      idle = ended === 'no turn' ? idle + 1 : 0
      if (ended === 'keyless') peer.end(codes.refused, 'The key may not call')
      else if (idle > mostIdle) peer.end(codes.refused, 'Too many messages ask for no turn')
    }
    waiting.length = 0
  }
  return {
    endLater(code: number, reason: string): void {
      if (isBusy) later ??= [code, reason]
      else peer.end(code, reason)
    },
    /** Whether the connection rests after the message. */
    async take(message: Buffer): Promise<boolean> {
      bytes += message.length
      if (waiting.length >= mostWaiting || bytes > mostBytes) {
        peer.end(codes.refused, 'Too many messages wait')
        return false
      }
      waiting.push(message)
      if (isBusy) return false
      isBusy = true
      await playAll()
      isBusy = false
      if (later !== null) peer.end(...later)
      return true
    },
  }
}
