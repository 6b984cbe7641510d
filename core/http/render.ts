import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Koa from 'koa'
import { print } from '../dialects/json.ts'
import { Aborted } from '../errors.ts'
import type { Clock } from '../ports/host.ts'
import type { Settings } from '../settings.ts'
import { type About, envelope, refusedEnvelope } from './envelope.ts'
import { sendEvents } from './events.ts'
import { known } from './fault.ts'
import type { Reply } from './reply.ts'

const streaming = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

/** Turns what a handler gave back into the answer; resolves when the last byte is handed to the socket. */
export const render = async (
  ctx: Koa.Context,
  reply: Reply,
  about: About,
  settings: Settings,
  clock: Clock,
  report: (error: unknown) => void,
): Promise<void> => {
  const { headers } = ctx.state as { headers: Headers }
  if (reply.headers) Object.assign(headers, reply.headers)
  switch (reply.kind) {
    case 'json':
      return send(ctx, reply.status, print(reply.body))
    case 'data':
      return send(ctx, reply.status, print(envelope(about, reply.status, reply.data, reply.message)))
    case 'refused':
      return send(ctx, reply.status, print(refusedEnvelope(about, reply.status, reply.error, reply.data, null)))
    case 'text':
      return send(ctx, reply.status, reply.text, reply.type)
    case 'bytes':
      ctx.respond = false
      ctx.res.writeHead(reply.status, {
        ...headers,
        'content-type': reply.type,
        ...(reply.size !== null && { 'content-length': reply.size }),
      })
      await pipeline(Readable.from(reply.bytes, { objectMode: false }), ctx.res).catch((cause) => {
        if (ctx.req.socket.destroyed) throw new Aborted({ cause })
        throw cause
      })
      return
    case 'events':
      ctx.respond = false
      return sendEvents(
        ctx.res,
        Object.assign(headers, streaming),
        reply.events,
        reply.quiet,
        (error) => {
          report(error)
          return reply.broken(known(error))
        },
        clock,
        settings.timeouts,
      )
  }
}

type Headers = Record<string, string | number>

/** Past Koa's own body and header handling, which costs as much again as writing the text; names are ours, lower-case already. */
export const send = (
  ctx: Koa.Context,
  status: number,
  text: string,
  type = 'application/json; charset=utf-8',
): void => {
  ctx.respond = false
  const { headers } = ctx.state as { headers: Headers }
  headers['content-type'] = type
  headers['content-length'] = Buffer.byteLength(text)
  ctx.res.writeHead(status, headers)
  ctx.res.end(ctx.method === 'HEAD' ? undefined : text)
}
