import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Refused, type Tongue } from './errors.ts'

/** A request of a program, and what answers it. */
export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
  /** The parts of the path that vary. */
  readonly params: readonly string[]
  readonly query: URLSearchParams
}

/** A route of the proxy; its errors are told in its dialect. */
export interface Door {
  readonly method: string
  readonly path: RegExp
  readonly tongue: Tongue
  serve(call: Call): Promise<void>
}

const most = 32 * 1024 * 1024

export const whole = async (request: IncomingMessage): Promise<Buffer> => {
  let size = 0
  request.on('data', ({ length }: Buffer) => {
    size += length
    if (size > most) request.destroy(new Refused(413, 'The request is too large'))
  })
  if (Number(request.headers['content-length'] ?? 0) > most) throw new Refused(413, 'The request is too large')
  return buffer(request)
}

/** The body as a JSON object. */
export const objectIn = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const body = await whole(request)
  try {
    const value: unknown = JSON.parse(body.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Said below: the error quotes the text.
  }
  throw new Refused(400, 'The body is not a JSON object')
}

/** Codex tries a WebSocket first, and comes by plain HTTP at once when the answer is 426. */
export const asksWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /\bwebsocket\b/i.test(headers.upgrade ?? '')

export const say = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
