import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import { checked } from '../validate.ts'
import { BadRequest, TooLarge } from '../errors.ts'
import type { Relayed } from '../dialects/decode-json.ts'
import { keepTexts } from '../dialects/json-text.ts'
import { readJson } from '../dialects/read-json.ts'
import { lazy } from '../lazy.ts'
import type { Settings } from '../settings.ts'
import type { Intake } from './body-intake.ts'
import type { Body } from './route.ts'

const forms = lazy(() => import('./form.ts'))

/** Bytes of a sealed body that are parsed here; a longer one goes to the enclave as it is. */
const shortSealed = 256 * 1024

/** Reads and checks what a route takes; `undefined` where it takes nothing or reads the stream itself. */
export const inputOf = async (
  ctx: Koa.Context,
  body: Body | undefined,
  settings: Settings,
  intake: Intake,
): Promise<unknown> => {
  if (body === undefined || body.read === 'stream') return undefined
  const most = limitOf(body, settings)
  const oversized = () =>
    new (body.tooLarge ? TooLarge : BadRequest)(`The body may have ${most} bytes at most`, {
      code: 'request_too_large',
    })
  if (Number(ctx.request.headers['content-length'] ?? 0) > most) throw oversized()
  if (body.read === 'form') {
    const { readForm } = await forms()
    return body.check(await readForm(ctx, most, oversized, intake))
  }
  mustBePlain(ctx.req)
  const bytes = await intake.whole(most, oversized)
  const { elements } = settings.bodies
  switch (body.read) {
    case 'json':
      return checked(body.schema, await readJson(bytes, 'plain', elements))
    case 'relayed': {
      const { value, members } = (await readJson(bytes, 'relayed', elements)) as Relayed
      const input = checked(body.schema, value)
      keepTexts(input, members)
      return input
    }
    case 'ordered':
      return body.check((await readJson(bytes, 'ordered', elements)) as Parameters<typeof body.check>[0])
    case 'sealed':
      return bytes.length > shortSealed ? bytes : checked(body.schema, await readJson(bytes, 'plain', elements))
  }
}

/** Bytes that a route reads of a body; for a stream, the largest file in hex. */
const limitOf = (body: Body, settings: Settings): number => {
  if (body.read === 'stream') return 2 * settings.bodies.file + streamHead
  return typeof body.bytes === 'number' ? body.bytes : body.bytes(settings)
}

/** Bytes beside the content of a streamed body. */
const streamHead = 1024 * 1024

/** Bytes of a body as its head tells; a body above the limit is refused unread and costs nothing. */
export const lengthOf = ({ headers }: IncomingMessage, body: Body | undefined, settings: Settings): number => {
  const length = Number(headers['content-length'] ?? 0)
  return body === undefined || length > limitOf(body, settings) ? 0 : length
}

/** A compressed body could unpack to any length, past the bounds that its bytes were checked against. */
const mustBePlain = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw new BadRequest('The body may not be compressed')
}
