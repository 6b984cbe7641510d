import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { tagHeader } from '../../../core/access/tags.ts'
import { googleError } from '../../../plugins/shared/dialects/generate-content/error.ts'
import { messagesError } from '../../../plugins/shared/dialects/messages/error.ts'
import { openaiError } from '../../../plugins/shared/dialects/responses/error.ts'
import { userHeader } from '../../../plugins/shared/sealed-user.ts'
import { type GatewayError, HttpAlone, NotFound } from '../../../core/errors.ts'
import type { RequestContext } from '../../../core/http/context.ts'
import { knownError } from '../../../core/http/http-errors.ts'
import type { Middleware } from '../../../core/http/middleware.ts'
import { type Admission, keyHeaders } from '../admission.ts'

/** Only what `admit` takes goes on, with the key of this process in place of the caller's. */
export const admitted =
  (admit: Admission, credential: () => string): Middleware =>
  async (ctx, next) => {
    try {
      if (await admit(ctx.req, ctx.res)) return void (ctx.respond = false)
    } catch (thrown) {
      return refuse(ctx, knownError(thrown))
    }
    for (const name of keyHeaders) delete ctx.req.headers[name]
    ctx.req.headers.authorization = `Bearer ${credential()}`
    await next()
  }

/** Paths of the gateway that have no sealed form. */
const unsealed = /^\/v1\/(images\/generations|images\/edits|audio\/speech)$/

/** Refuses what could only leave this machine in the clear, and a WebSocket, so that its client comes by HTTP. */
export const sealedAlone: Middleware = (ctx, next) => {
  if (ctx.path === '/v1/responses' && ctx.get('upgrade') !== '') {
    ctx.set({ upgrade: 'HTTP/1.1', connection: 'upgrade, close' })
    return refuse(ctx, new HttpAlone())
  }
  if (!unsealed.test(ctx.path)) return next()
  const sentence = 'The gateway does not serve this route sealed, and nothing leaves here unsealed'
  refuse(ctx, new NotFound(sentence, { code: 'not_sealed' }))
}

/** An error in the dialect of the path, before the path has found its route. */
const refuse = (ctx: Parameters<Middleware>[0], error: GatewayError): void => {
  const { about } = ctx.state as RequestContext
  ctx.status = error.status
  ctx.body = ctx.path.startsWith('/v1beta/')
    ? googleError(error)
    : ctx.path.startsWith('/v1/messages')
      ? messagesError(error, about.id)
      : openaiError(error)
}

/** What passes between a program's request and the sealed request that is made of it. */
export interface Passing {
  /** The platform's `fetch` with what the program's request tells in the clear; it hears the id of the sealed request. */
  readonly fetch: typeof globalThis.fetch
  readonly middleware: Middleware
}

interface Passed {
  /** Tags and the end user, which the gateway counts by. */
  readonly told: Readonly<Record<string, string>>
  /** Headers of the program's answer. */
  readonly headers: RequestContext['headers']
}

/** Both follow the request through asynchronous work, so that no code between must hand them on. */
export const passing = (): Passing => {
  const requests = new AsyncLocalStorage<Passed>()
  return {
    async fetch(target, init) {
      const request = requests.getStore()
      if (request === undefined || init?.method !== 'POST') return globalThis.fetch(target, init)
      const headers = new Headers(init.headers)
      for (const [name, value] of Object.entries(request.told)) headers.set(name, value)
      const answer = await globalThis.fetch(target, { ...init, headers })
      nameRequest(request.headers, answer.headers.get('x-request-id'))
      return answer
    },
    middleware: (ctx, next) =>
      requests.run({ told: toldIn(ctx.req), headers: (ctx.state as RequestContext).headers }, next),
  }
}

const toldIn = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [tagHeader, userHeader].flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )

/** The operator finds the request by the gateway's own id. */
const nameRequest = (headers: RequestContext['headers'], id: string | null): void => {
  if (id === null) return
  for (const name of ['x-request-id', 'request-id']) if (name in headers) headers[name] = id
}
