import { type RequestListener, STATUS_CODES, type Server, createServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Settings } from '../settings.ts'
import { capped } from './connections.ts'
import { awaitsContinue } from './body-intake.ts'
import { BadRequest, type GatewayError, TooSlow } from '../errors.ts'
import { uuid7 } from '../uuid7.ts'
import type { Clock, Random } from '../ports/platform.ts'
import { errorEnvelope } from './reply.ts'

/** Our own server: what Node refuses before any route sees it is answered in the envelope too. */
export const serverFor = (
  listener: RequestListener,
  { env, connections, trustedProxies }: Settings,
  clock: Clock,
  random: Random,
): Server => {
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      headersTimeout: connections.head,
      requestTimeout: 600_000,
      connectionsCheckingInterval: Math.min(5_000, connections.head),
      maxHeaderSize: 32 * 1024,
      requireHostHeader: false,
    },
    listener,
  )
  capped(server, connections, trustedProxies)
  // The body is asked for when its key was found valid.
  server.on('checkContinue', (request, response) => {
    awaitsContinue(request)
    listener(request, response)
  })
  // What is expected beyond 100-continue is nothing that we know: it is answered as if it were not there.
  server.on('checkExpectation', listener)
  server.on('clientError', (fault: NodeJS.ErrnoException, socket: Socket) => {
    // Browsers keep spare connections, and take an answer on one of them for that to their next request.
    if (fault.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) return void socket.destroy()
    const error = refusalOf(fault.code)
    const about = { env, id: uuid7(clock, random) }
    const body = JSON.stringify(errorEnvelope(about, error).body)
    clock.alarm(patienceMs, () => socket.destroy())
    socket.end(
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `x-request-id: ${about.id}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  })
  return server
}

/** Ms in which a refused connection may take its answer: a peer that never closes its half would keep the socket. */
const patienceMs = 1_000

const refusalOf = (code: string | undefined): GatewayError => {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new TooSlow('The request took too long')
  return new BadRequest(code === 'HPE_HEADER_OVERFLOW' ? 'The headers are too large' : 'Malformed request')
}
