import type { IncomingHttpHeaders } from 'node:http'
import { WebSocketServer } from 'ws'
import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { readJson } from '../../../../core/dialects/read-json.ts'
import { BadRequest, GatewayError, WrongMethod } from '../../../../core/errors.ts'
import { namedPath } from '../../../../core/http/route.ts'
import type { Reply } from '../../../../core/http/reply.ts'
import type { Lifecycle } from '../../../../core/lifecycle.ts'
import type { Clock, Log, Random } from '../../../../core/ports/platform.ts'
import type { FetchRequest } from '../../../../core/ports/surface.ts'
import type { Settings } from '../../../../core/settings.ts'
import { openaiError } from '../../../shared/dialects/responses/error.ts'
import { sockets } from '../settings.ts'
import { chain } from './chain.ts'
import { serveConnection } from './connection.ts'
import { type Ask, playTurn, type Say, type TurnEnd } from './turn.ts'
import { type Handed, leavingHttp } from './upgrade.ts'

interface Given {
  readonly fetch: FetchRequest
  readonly lifecycle: Lifecycle
  readonly settings: Settings
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Headers that belong to the connection or to its handshake. */
const ofHandshake = /^(?:connection|upgrade|host|content-.*|transfer-encoding|expect|sec-websocket-.*)$/

const mostFragments = 1_024
const closeTimeout = 2_000

/** Opens the connection, each turn of which goes the way of POST /v1/responses. Throws WrongMethod for a request without an upgrade. */
export const openSocket = (headers: IncomingHttpHeaders, given: Given): Reply => {
  if (!/\bwebsocket\b/i.test(headers.upgrade ?? ''))
    throw new WrongMethod('This path takes POST, or a WebSocket by GET')
  const { settings } = given
  const server = new WebSocketServer({
    ...({ noServer: true, clientTracking: false, perMessageDeflate: false, autoPong: false } as const),
    ...{ maxPayload: settings.bodies.chat, maxFragments: mostFragments, closeTimeout },
  })
  return leavingHttp((handed) => {
    const { request, socket, head } = handed
    server.handleUpgrade(request, socket, head, (opened) => {
      const { ping, idle, life } = sockets.of(settings)
      const bounds = { ping, idle, life, stalled: settings.timeouts.stalled, message: settings.bodies.chat }
      const { clock, lifecycle } = given
      serveConnection(opened, { clock, bounds, draining: lifecycle.draining, play: playing(handed, given) })
    })
  })
}

const playing = (handed: Handed, given: Given) => {
  const { settings, clock, random, log } = given
  const { elements, members } = settings.bodies
  const turn = {
    chain: chain(settings.bodies.chat),
    ask: asking(handed, given),
    id: () => `resp_${Buffer.from(random.bytes(20)).toString('hex')}`,
    now: () => Math.floor(clock.now() / 1000),
  }
  return async (text: Buffer, say: Say, signal: AbortSignal): Promise<TurnEnd | 'no turn'> => {
    try {
      const message = await readJson(text, 'plain', { elements, members, outermost: 256 })
      if (isJsonObject(message) && message['type'] === 'response.create')
        return await playTurn(message, { ...turn, say }, signal)
      // Codex tells with it that it has read an answer.
      if (!isJsonObject(message) || message['type'] !== 'response.processed')
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

const asking = ({ request }: Handed, { fetch, settings }: Given): Ask => {
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined || ofHandshake.test(name) ? [] : [[name, String(value)]],
    ),
  )
  const url = `http://gateway${namedPath('/v1/responses', settings)}`
  const { remoteAddress } = request.socket
  return (path, body, signal) =>
    fetch(
      new Request(url + path, {
        ...{ method: 'POST', body, signal },
        headers: { ...headers, 'content-type': 'application/json' },
      }),
      remoteAddress === undefined ? {} : { address: remoteAddress },
    )
}
