import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type * as v from 'valibot'
import { checked } from '../validate.ts'
import { BadRequest, TooLarge } from '../errors.ts'
import { keepTexts } from '../dialects/json-text.ts'
import { type Relayed, readJson } from '../dialects/read-json.ts'
import { lazy } from '../plugin.ts'
import type { JsonBounds } from '../dialects/json-scan.ts'
import type { Pace } from '../dialects/loop-time.ts'
import type { Settings } from '../settings.ts'
import type { Intake } from './body-intake.ts'
import type { Body } from './route.ts'

const forms = lazy(() => import('./form.ts'))

/** Members of a body itself; no schema names a third as many. */
const outermostMembers = 256

/** Bytes of a body whose check takes a turn of the loop, and nanoseconds of the check for a byte. */
const [longBytes, checkNs] = [128 * 1024, 10]

/** Bytes of a sealed body that are parsed here; a longer one goes to the enclave as it is. */
const shortSealed = 256 * 1024

/** What the JSON of a body may have. */
export const jsonBoundsOf = ({ bodies: { elements, members } }: Pick<Settings, 'bodies'>): JsonBounds => ({
  elements,
  members,
  outermost: Math.min(members, outermostMembers),
})

/** Reads and checks what a route takes; `undefined` where it takes nothing or reads the stream itself. */
export const inputOf = async (
  ctx: Koa.Context,
  body: Body | undefined,
  settings: Settings,
  intake: Intake,
  pace: Pace,
  read: Buffer | null = null,
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
    return body.check(await readForm(ctx, most, oversized, intake, pace))
  }
  mustBePlain(ctx.req)
  const bytes = read ?? (await intake.whole(most, oversized))
  const bounds = jsonBoundsOf(settings)
  switch (body.read) {
    case 'json':
      return checkedOf(body.schema, await readJson(bytes, 'plain', bounds, pace), bytes, pace)
    case 'relayed': {
      const { value, members } = (await readJson(bytes, 'relayed', bounds, pace)) as Relayed
      const input = await checkedOf(body.schema, value, bytes, pace)
      keepTexts(input, members)
      return input
    }
    case 'ordered':
      return body.check((await readJson(bytes, 'ordered', bounds, pace)) as Parameters<typeof body.check>[0])
    case 'sealed':
      return bytes.length > shortSealed ? bytes : checked(body.schema, await readJson(bytes, 'plain', bounds, pace))
  }
}

/** Checks the value of a body. The check of a long body has turns of the loop before and behind it. */
const checkedOf = <S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  { length }: Buffer,
  pace: Pace,
): v.InferOutput<S> | Promise<v.InferOutput<S>> => {
  if (length <= longBytes) return checked(schema, value)
  const alone = async () => {
    await pace.spend(checkNs * length)
    const output = checked(schema, value)
    await pace.spend(checkNs * length)
    return output
  }
  return alone()
}

/** Bytes that a route reads of a body; for a stream, the largest file in hex. */
export const limitOf = (body: Body, settings: Settings): number => {
  if (body.read === 'stream') return 2 * settings.bodies.file + streamHead
  return typeof body.bytes === 'number' ? body.bytes : body.bytes(settings)
}

/** Bytes beside the content of a streamed body. */
const streamHead = 1024 * 1024

/** A compressed body could unpack to any length, past the bounds that its bytes were checked against. */
const mustBePlain = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw new BadRequest('The body may not be compressed')
}
