import type { RequestListener, ServerResponse } from 'node:http'
import type { Built } from '../../../plugins/surfaces/console/built.ts'
import { consoleHeaders, fileHeaders } from '../../../plugins/surfaces/console/headers.ts'
import { SealgateError } from '../../../plugins/sealed/client/error.ts'
import { sentenceOf } from '../error-text.ts'
import { type Rules, admission } from '../admission.ts'
import { GatewayError, NotFound, Unavailable } from '../../../core/errors.ts'
import { type PageRequest, addressOf, sendJson } from './page-request.ts'
import type { OwnFiles } from './own-files.ts'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { refusalHeader } from '../../../plugins/sealed/wire/body.ts'

/** Everything that the routes of the local console need. */
export interface ConsoleDoor {
  readonly built: Built
  /** The facts about this machine for the page. */
  readonly own: { readonly gateway: string; readonly kid: string | null }
  readonly apiKey: string
  /** Null where this machine has no keys of files. */
  readonly files: OwnFiles | null
  readonly door: Rules
}

const notFound = (): never => {
  throw new NotFound('Not found')
}

/** The page and its scripts: the same for everybody, and without anything of the reader. */
const serveScript = (response: ServerResponse, { ownPage, hash, files }: Built, pathname: string): void => {
  if (pathname === '/console')
    return void response.writeHead(200, { ...consoleHeaders, 'content-type': 'text/html; charset=utf-8' }).end(ownPage)
  const [, release, name = ''] = /^\/console\/([0-9a-f]+)\/(.+)$/.exec(pathname) ?? []
  const file = release === hash ? files.get(name) : undefined
  if (file === undefined) return notFound()
  response.writeHead(200, { ...fileHeaders, 'content-type': file.type }).end(file.bytes)
}

/** Paths below `/own` never reach the gateway, not even where nothing serves them. */
const serve = async (door: ConsoleDoor, call: PageRequest, pathname: string): Promise<void> => {
  const { request, response } = call
  if (pathname === '/own' && request.method === 'GET') return sendJson(response, 200, { data: door.own })
  if (!/^\/own(?:\/|$)/.test(pathname)) return forward(call, { gateway: door.own.gateway, apiKey: door.apiKey })
  if (door.files === null || !(await door.files(call, pathname))) return notFound()
}

/** Only words of this program and of the client go to the page; any other error gets a plain sentence. */
const refusalOf = (error: unknown): { readonly status: number; readonly words: string } => {
  if (error instanceof GatewayError) return { status: error.status, words: error.message }
  if (error instanceof SealgateError) return { status: error.status ?? 502, words: sentenceOf(error) }
  return { status: 502, words: 'The request failed' }
}

/** The console on this machine: its own page, its own files, and everything else from the gateway. */
export const consoleRoutes = (door: ConsoleDoor): RequestListener => {
  const admitPage = admission({ ...door.door, token: null })
  const admit = admission(door.door)
  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('The caller left')))
    try {
      const { pathname, searchParams: query } = addressOf(request)
      const isPage = request.method === 'GET' && /^\/console(?:\/|$)/.test(pathname)
      if (await (isPage ? admitPage : admit)(request, response)) return
      if (isPage) return serveScript(response, door.built, pathname)
      await serve(door, { request, response, signal: gone.signal, query }, pathname)
    } catch (error) {
      if (response.destroyed) return
      // An answer that has begun is cut, so that it never looks whole.
      if (response.headersSent) return void response.destroy()
      const { status, words } = refusalOf(error)
      sendJson(response, status, { error: words })
    }
  }
}

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
interface Behind {
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
const forward = async (call: PageRequest, { gateway, apiKey }: Behind): Promise<void> => {
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
