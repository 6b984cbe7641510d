import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { Unavailable } from '../../../core/errors.ts'
import { refusalHeader } from '../../../plugins/sealed/wire/body.ts'
import { type PageRequest, addressOf } from './page-request.ts'

/** Headers of the page that the gateway reads. */
const passed = ['accept', 'content-type', 'x-enclave-kid', 'range'] as const

/** Headers of the gateway that the page reads. */
const answered = [
  'content-type',
  'content-range',
  'date',
  'etag',
  'retry-after',
  'retry-after-ms',
  'x-request-id',
  'x-sealgate-dropped',
  refusalHeader,
] as const

/** The gateway behind this console, and the key that the page never sees. */
export interface Behind {
  /** The address of the gateway, without a slash at the end. */
  readonly gateway: string
  readonly apiKey: string
}

/** Only listed headers go on: a cookie or a key of the page stays on this machine. */
const headersOf = ({ request }: PageRequest, apiKey: string): Record<string, string> => {
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` }
  for (const name of passed) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  return headers
}

/** The body as it comes; a browser tells the length of each body that it sends. */
const bodyOf = ({ request }: PageRequest): RequestInit =>
  request.method === 'GET' || request.method === 'HEAD' || Number(request.headers['content-length'] ?? 0) === 0
    ? {}
    : ({ body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } as unknown as RequestInit)

/** Hands a request of the page on to the gateway, with the key of this process, and its answer back. */
export const forward = async (call: PageRequest, { gateway, apiKey }: Behind): Promise<void> => {
  const { request, response, signal } = call
  const { pathname, search } = addressOf(request)
  const answer = await fetch(`${gateway}${pathname}${search}`, {
    method: request.method ?? 'GET',
    headers: headersOf(call, apiKey),
    redirect: 'manual',
    signal,
    ...bodyOf(call),
  }).catch((cause: unknown) => {
    throw signal.aborted ? cause : new Unavailable('The gateway cannot be reached')
  })
  for (const name of answered) {
    const value = answer.headers.get(name)
    if (value !== null) response.setHeader(name, value)
  }
  response.writeHead(answer.status, { 'cache-control': 'no-store' })
  if (answer.body === null) return void response.end()
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response)
}
