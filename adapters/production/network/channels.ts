import type { TLSSocket } from 'node:tls'
import type { Client, Dispatcher, buildConnector } from 'undici'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Door } from '../../../core/ports/platform.ts'
import { type UpstreamLine, dialer, keyOf, send } from './fetch-upstream.ts'

/** The end of a connection that stands. */
export interface ChannelEnd {
  /** The DER of the public key in which it ends. */
  readonly key: Uint8Array
  /** 32 bytes of keying material that this connection alone has (RFC 8446, section 7.5). */
  exporter(label: string, context: Uint8Array): Uint8Array
}

/** A connection before it carries a call. */
export interface Channel {
  /** Asks over this connection. The first question opens it. */
  readonly door: Door
  /** Throws before the first answer. */
  end(): ChannelEnd
}

/** A line of connections to one origin, each admitted by itself. */
export interface ChannelLine extends UpstreamLine {
  /** Opens and admits a connection, which waits for a call. */
  open(): Promise<void>
}

/** In ms: a connection that was admitted is worth keeping. */
const restMs = 600_000

/** One connection, which a client never replaces by another. */
interface Held {
  readonly client: Client
  isAlive(): boolean
  busy: boolean
}

/** A client that would have to connect a second time. No byte of a call went out. */
class Ended extends Error {}

/** Tells when a call is over, and passes everything on. */
const watched = (handler: Dispatcher.DispatchHandler, over: () => void): Dispatcher.DispatchHandler => ({
  onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
  onResponseStart: (controller, status, headers, text) => handler.onResponseStart?.(controller, status, headers, text),
  onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
  onResponseEnd(controller, trailers) {
    over()
    handler.onResponseEnd?.(controller, trailers)
  },
  onResponseError(controller, error) {
    over()
    handler.onResponseError?.(controller, error)
  },
})

/** A client whose first connection is its last one. */
const oneConnection = (
  { Client: Made }: { readonly Client: typeof Client },
  origin: string,
  dial: buildConnector.connector,
): { readonly client: Client; isAlive(): boolean; end(): ChannelEnd } => {
  let socket: TLSSocket | null = null
  const client = new Made(origin, {
    ...{ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: restMs, keepAliveMaxTimeout: restMs },
    connect(options, done) {
      if (socket !== null) return done(new Ended('The admitted connection has ended'), null)
      dial(options, (error, made) => {
        if (error !== null) return done(error, null)
        socket = made as TLSSocket
        done(null, made)
      })
    },
  })
  return {
    client,
    isAlive: () => socket?.destroyed === false,
    end() {
      const key = socket && keyOf(socket)
      const standing = socket
      if (standing === null || key === null) throw new Error('The connection has no key')
      return {
        key,
        exporter: (label, context) => new Uint8Array(standing.exportKeyingMaterial(32, label, Buffer.from(context))),
      }
    },
  }
}

/**
 * Each connection is admitted before a call uses it, and carries one call at a time. `admit` rejects for a connection that
 * no call may use.
 */
export const openChannels = (
  origin: string,
  anyCertificate: boolean,
  admit: (channel: Channel) => Promise<void>,
): ChannelLine => {
  const lines = new Set<Held>()
  let closed = false

  const opened = async (): Promise<Held> => {
    const undici = await import('undici')
    if (closed) throw new UpstreamFailed(undefined, { again: true, cause: new Error('The line is closed') })
    const { client, isAlive, end } = oneConnection(undici, origin, dialer(undici.buildConnector, anyCertificate))
    const held: Held = { client, isAlive, busy: true }
    lines.add(held)
    client.on('disconnect', () => lines.delete(held))
    try {
      await admit({ door: (url, ask) => send(client, url, ask), end })
      return held
    } catch (error) {
      lines.delete(held)
      await client.destroy()
      throw error
    }
  }

  const ended = async (how: 'close' | 'destroy'): Promise<void> => {
    closed = true
    await Promise.all([...lines].map(({ client }) => client[how]()))
  }

  /** A connection that no other call can take meanwhile. */
  const taken = async (): Promise<Held> => {
    const idle = [...lines].find(({ busy, isAlive }) => !busy && isAlive())
    if (idle === undefined) return opened()
    idle.busy = true
    return idle
  }

  return {
    async open() {
      const held = await opened()
      held.busy = false
    },
    async door(url, ask) {
      ask.signal.throwIfAborted()
      const over = (held: Held) => (): void => void (held.busy = false)
      const sent = (held: Held) =>
        send({ dispatch: (options, handler) => held.client.dispatch(options, watched(handler, over(held))) }, url, ask)
      try {
        return await sent(await taken())
      } catch (error) {
        // The backend closed a connection that rested, in the moment in which a call took it.
        if (!(error instanceof UpstreamFailed && error.cause instanceof Ended)) throw error
        return sent(await opened())
      }
    },
    retire: () => ended('close'),
    close: () => ended('destroy'),
  }
}
