import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { ProxyRefusal, type ErrorDialect } from './errors.ts'

/** A program's request, and its response. */
export interface ProxyCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
  /** The variable parts of the path. */
  readonly params: readonly string[]
  readonly query: URLSearchParams
}

/** A route of the proxy. Its errors have the form of its dialect. */
export interface ProxyRoute {
  readonly method: string
  readonly path: RegExp
  readonly tongue: ErrorDialect
  serve(call: ProxyCall): Promise<void>
}

const here = 'http://localhost'

/** The address that a program asks for. A target that is no address, as `//`, becomes a path that no route has. */
export const addressOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): URL =>
  URL.canParse(url, here) ? new URL(url, here) : new URL('/no-address', here)

/** Bytes of a request. The whole body stands in memory before it is sealed. */
const mostBodyBytes = 32 * 1024 * 1024

/**
 * Rejects with a refusal of 413, at once by the named length, else as soon as the bytes are too many.
 */
export const wholeBody = async (request: IncomingMessage): Promise<Buffer> => {
  let size = 0
  request.on('data', ({ length }: Buffer) => {
    size += length
    if (size > mostBodyBytes) request.destroy(new ProxyRefusal(413, 'The request is too large'))
  })
  if (Number(request.headers['content-length'] ?? 0) > mostBodyBytes)
    throw new ProxyRefusal(413, 'The request is too large')
  return buffer(request)
}

/** The body as a JSON object. */
export const jsonBody = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const body = await wholeBody(request)
  try {
    const value: unknown = JSON.parse(body.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The JSON error quotes the text; the refusal below has its own words.
  }
  throw new ProxyRefusal(400, 'The body is not a JSON object')
}

/** Codex tries a WebSocket first. After a 426 it uses plain HTTP at once. */
export const asksWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /\bwebsocket\b/i.test(headers.upgrade ?? '')

/** Ends the response. The caller must not have begun it. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
