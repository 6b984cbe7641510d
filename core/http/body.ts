import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import { checked } from '../checked.ts'
import { readOrdered, readPlain } from '../dialects/json.ts'
import { Aborted, BadRequest, TooLarge, Unavailable } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { readForm } from './form.ts'
import type { Body } from './route.ts'

/** Reads and checks what a route takes; `undefined` where it takes nothing or reads the stream itself. */
export const inputOf = async (ctx: Koa.Context, body: Body | undefined, settings: Settings): Promise<unknown> => {
  if (body === undefined || body.read === 'stream') return undefined
  const most = typeof body.bytes === 'number' ? body.bytes : body.bytes(settings)
  const oversized = () => new (body.tooLarge ? TooLarge : BadRequest)(`The body may have ${most} bytes at most`)
  if (Number(ctx.request.headers['content-length'] ?? 0) > most) throw oversized()
  if (body.read === 'form') return body.check(await readForm(ctx, most, oversized))
  const text = await textOf(ctx.req, most, oversized)
  return body.read === 'ordered' ? body.check(readOrdered(text)) : checked(body.schema, readPlain(text))
}

const textOf = async (request: IncomingMessage, most: number, oversized: () => Error): Promise<string> => {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw new BadRequest('The body may not be compressed')
  const bytes = await bytesOf(request, most, oversized)
  if (!isUtf8(bytes)) throw new BadRequest('The body is not UTF-8')
  return bytes.toString('utf8')
}

// Events instead of the async iterator: this runs on every request, and the iterator costs several times as much. Those
// who listen stay until the request goes, since taking them off costs as much again.
const bytesOf = (request: IncomingMessage, most: number, oversized: () => Error): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (request.readableEnded) return reject(new Unavailable('The body was read before it came here'))
    let parts: Buffer[] | null = []
    let size = 0
    request.on('data', (part: Buffer) => {
      if (parts === null) return
      size += part.length
      if (size <= most) return void parts.push(part)
      parts = null
      reject(oversized())
    })
    request.on('end', () => {
      if (parts !== null) resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts, size))
      parts = null
    })
    request.on('close', () => {
      if (parts !== null) reject(new Aborted())
      parts = null
    })
  })
