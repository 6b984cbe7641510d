import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import { BadRequest, TooLarge } from '../../../core/errors.ts'

/** A request of the page, and its response. */
export interface PageRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
  readonly query: URLSearchParams
}

const here = 'http://localhost'

/** The address of a request. A target that is no address, as `//`, becomes a path that no route has. */
export const addressOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): URL =>
  URL.canParse(url, here) ? new URL(url, here) : new URL('/no-address', here)

/** Bytes of a request in JSON. */
const mostBodyBytes = 32 * 1024 * 1024

/** Rejects with a refusal of 413, at once by the named length, else as soon as the bytes are too many. */
const wholeBody = async (request: IncomingMessage): Promise<Buffer> => {
  let size = 0
  request.on('data', ({ length }: Buffer) => {
    size += length
    if (size > mostBodyBytes) request.destroy(new TooLarge('The request is too large'))
  })
  if (Number(request.headers['content-length'] ?? 0) > mostBodyBytes) throw new TooLarge('The request is too large')
  return buffer(request)
}

/** The body as a JSON object. */
export const jsonBody = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const body = await wholeBody(request)
  try {
    const value: unknown = JSON.parse(body.toString())
    if (isJsonObject(value)) return value
  } catch {
    // The JSON error quotes the text; the refusal below has its own words.
  }
  throw new BadRequest('The body is not a JSON object')
}

/** Ends the response. The caller must not have begun it. */
export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
