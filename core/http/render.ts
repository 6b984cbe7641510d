import type { ServerResponse } from 'node:http'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Koa from 'koa'
import { print } from '../dialects/json.ts'
import { Aborted } from '../errors.ts'
import { type About, envelope, refusedEnvelope, type Reply } from './reply.ts'
import { type Pace, eventHeaders, sendEvents } from './events.ts'
import { type Wait, knownError } from './http-errors.ts'
import { type ReaderPatience, endAnswer, handOn } from './backpressure.ts'
import { type RequestContext, leaveRoute } from './context.ts'

/** Turns what a handler gave back into the answer; resolves when the reader has taken it, or is gone. */
export const render = async (
  ctx: Koa.Context,
  reply: Reply,
  about: About,
  pace: Pace,
  report: (error: unknown) => void,
  waits: (refusal: Wait) => Headers,
): Promise<void> => {
  const { headers } = ctx.state as { headers: Headers }
  if (reply.headers) Object.assign(headers, reply.headers)
  switch (reply.kind) {
    case 'json':
      return send(ctx, reply.status, print(reply.body), pace)
    case 'data':
      return send(ctx, reply.status, print(envelope(about, reply.status, reply.data, reply.message)), pace)
    case 'refused':
      Object.assign(headers, waits(reply))
      return send(ctx, reply.status, print(refusedEnvelope(about, reply.status, reply.error, reply.data, null)), pace)
    case 'text':
      return send(ctx, reply.status, reply.text, pace, reply.type)
    case 'bytes':
      ctx.respond = false
      ctx.res.writeHead(reply.status, {
        ...headers,
        'content-type': reply.type,
        ...(reply.size !== null && { 'content-length': reply.size }),
      })
      await pipeline(
        Readable.from(wholeOf(reply.bytes, reply.size), { objectMode: false }),
        readerOf(ctx.res, pace),
      ).catch((cause) => {
        if (ctx.req.socket.destroyed) throw new Aborted({ cause })
        throw cause
      })
      return
    case 'own': {
      const { closed } = await reply.answer(ctx.req, ctx.res, headers)
      ctx.respond = false
      leaveRoute(ctx.state as RequestContext, reply.status)
      return closed
    }
    case 'events':
      ctx.respond = false
      return sendEvents(
        ctx.res,
        () => Object.assign(headers, eventHeaders, reply.late?.()),
        reply.events,
        reply.quiet,
        (error) => {
          report(error)
          return reply.broken(knownError(error))
        },
        pace,
      )
  }
}

type Headers = Record<string, string | number>

/** Throws where fewer bytes come than the head promised: the connection is cut, since the reader would wait for the rest. */
async function* wholeOf(bytes: AsyncIterable<Uint8Array>, size: number | null): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const part of bytes) {
    length += part.length
    yield part
  }
  if (size !== null && length < size) throw new Error('The content ends before the length of its head')
}

/** The reader of the answer; when it leaves, the rest of the answer is dropped. */
const readerOf = (response: ServerResponse, patience: ReaderPatience): Writable => {
  const reader = new Writable({
    write: (part: Uint8Array, _, done) =>
      void Promise.resolve(handOn(response, part, patience)).then(() => done(), done),
    final: (done) => void endAnswer(response, undefined, patience).then(() => done(), done),
  })
  // A connection that has closed already gets no second close.
  if (response.destroyed) reader.destroy()
  else response.once('close', () => void (response.writableFinished || reader.destroy()))
  return reader
}

/** Past Koa's own body and header handling, which costs as much again as writing the text; names are ours, lower-case already. */
export const send = (
  ctx: Koa.Context,
  status: number,
  text: string | Uint8Array,
  patience: ReaderPatience,
  type = 'application/json; charset=utf-8',
): Promise<void> => {
  ctx.respond = false
  const { headers } = ctx.state as { headers: Headers }
  headers['content-type'] = type
  headers['content-length'] = typeof text === 'string' ? Buffer.byteLength(text) : text.length
  ctx.res.writeHead(status, headers)
  return endAnswer(ctx.res, ctx.method === 'HEAD' ? undefined : text, patience)
}
