import { WebSocketServer } from 'ws'
import type { Pace } from '../../../../core/dialects/loop-time.ts'
import { BadRequest, GatewayError, WrongMethod } from '../../../../core/errors.ts'
import { type HeldBytes, namedPath, type Request } from '../../../../core/http/route.ts'
import type { Reply } from '../../../../core/http/reply.ts'
import type { Lifecycle } from '../../../../core/lifecycle.ts'
import type { Clock, Log, Random } from '../../../../core/ports/platform.ts'
import type { FetchRequest } from '../../../../core/ports/surface.ts'
import type { Settings } from '../../../../core/settings.ts'
import { openaiError } from '../../../shared/dialects/responses/error.ts'
import { sockets } from '../settings.ts'
import { chain, lengthOf, type Parts } from './chain.ts'
import { serveConnection } from './connection.ts'
import { type Ask, playTurn, type Say, type TurnEnd } from './turn.ts'
import { inShortFrames, pieceBytes } from './short-frames.ts'
import { type Handed, leavingHttp } from './upgrade.ts'
import { wordsOf } from './words.ts'

interface Given {
  readonly fetch: FetchRequest
  readonly lifecycle: Lifecycle
  readonly settings: Settings
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** What the caller of a connection pays for. */
interface Paid {
  readonly held: HeldBytes
  readonly pace: Pace
}

/** Headers that belong to the connection or to its handshake. */
const ofHandshake = /^(?:connection|upgrade|host|content-.*|transfer-encoding|expect|sec-websocket-.*)$/

const mostFragments = 1_024
const closeTimeout = 2_000

/** Opens the connection, each turn of which goes the way of POST /v1/responses. Throws WrongMethod for a request without an upgrade. */
export const openSocket = (
  { headers, held, pace }: Pick<Request<unknown, unknown, unknown>, 'headers' | 'held' | 'pace'>,
  given: Given,
): Reply => {
  if (!/\bwebsocket\b/i.test(headers.upgrade ?? ''))
    throw new WrongMethod('This path takes POST, or a WebSocket by GET')
  if (held === null) throw new Error('A connection has nobody who pays for it')
  const { settings } = given
  const most = settings.bodies.chat
  const server = new WebSocketServer({
    ...({ noServer: true, clientTracking: false, perMessageDeflate: false, autoPong: false } as const),
    ...{ maxPayload: most, maxFragments: mostFragments + Math.ceil(most / pieceBytes), closeTimeout },
  })
  return leavingHttp((handed) => {
    const { request, socket, head } = handed
    const wire = inShortFrames(socket, head, most)
    server.handleUpgrade(request, wire, Buffer.alloc(0), (opened) => {
      const { ping, idle, life } = sockets.of(settings)
      const bounds = { ping, idle, life, stalled: settings.timeouts.stalled, message: most }
      const { clock, lifecycle } = given
      const play = playing(handed, { held, pace }, given)
      serveConnection(opened, { wire, held, clock, bounds, draining: lifecycle.draining, play })
    })
  })
}

const playing = (handed: Handed, { held, pace }: Paid, given: Given) => {
  const { settings, clock, random, log } = given
  const { elements, members } = settings.bodies
  const bounds = { elements, members, outermost: 256 }
  const turn = {
    ...{ bounds, pace },
    chain: chain(settings.bodies.chat, held),
    ask: asking(handed, given),
    id: () => `resp_${Buffer.from(random.bytes(20)).toString('hex')}`,
    now: () => Math.floor(clock.now() / 1000),
  }
  return async (message: Buffer, say: Say, signal: AbortSignal): Promise<TurnEnd | 'no turn'> => {
    try {
      const words = await wordsOf(message, bounds, pace)
      if (words?.type === 'response.create') return await playTurn(words, { ...turn, say }, signal)
      // Codex tells with it that it has read an answer.
      if (words?.type !== 'response.processed')
        await say(told(new BadRequest('Expected a message of the type response.create')))
      return 'no turn'
    } catch (fault) {
      if (signal.aborted) return 'played'
      if (!(fault instanceof GatewayError)) log.error('socket', {}, fault)
      const error = fault instanceof GatewayError ? fault : new GatewayError('The turn was cut off')
      await say(told(error))
      return fault === error ? 'no turn' : 'played'
    }
  }
}

const told = (error: GatewayError): string =>
  JSON.stringify({ type: 'error', status: error.status, ...openaiError(error) })

/** Bytes of a body that are handed on at once. */
const sliceBytes = 64 * 1024

const slicesOf = function* (parts: Parts): Generator<Uint8Array> {
  for (const part of parts)
    for (let from = 0; from < part.length; from += sliceBytes) yield part.subarray(from, from + sliceBytes)
}

const streamOf = (parts: Parts): ReadableStream<Uint8Array> => {
  const slices = slicesOf(parts)
  return new ReadableStream({
    pull(controller) {
      const { value, done } = slices.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}

const asking = ({ request }: Handed, { fetch, settings }: Given): Ask => {
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined || ofHandshake.test(name) ? [] : [[name, String(value)]],
    ),
  )
  const url = `http://gateway${namedPath('/v1/responses', settings)}`
  const { remoteAddress } = request.socket
  return (path, parts, signal) => {
    const length = lengthOf(parts)
    const body = length <= sliceBytes ? Buffer.concat(parts) : streamOf(parts)
    return fetch(
      new globalThis.Request(url + path, {
        ...{ method: 'POST', body, signal, duplex: 'half' },
        headers: { ...headers, 'content-type': 'application/json', 'content-length': String(length) },
      }),
      remoteAddress === undefined ? {} : { address: remoteAddress },
    )
  }
}
