import * as v from 'valibot'
import { messagesError } from '../../dialects/messages/error.ts'
import { googleError } from '../../dialects/generate-content/error.ts'
import { openaiError } from '../../dialects/responses/error.ts'
import { BadRequest, TooLarge, type GatewayError } from '../../errors.ts'
import type { AnyRoute, Render } from '../../http/route.ts'

/** Headers in which clients of the public dialects put their key. */
export const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

/** The dialects know a status for what is too large. */
const sized = (error: GatewayError): GatewayError => {
  if (!(error instanceof BadRequest) || error.code !== 'request_too_large') return error
  const { message, validator, code, told, cause } = error
  return new TooLarge(message, { validator, code, told, cause })
}

const rendering =
  (print: (error: GatewayError, id: string) => unknown): Render =>
  ({ id }, error) => {
    const told = sized(error)
    return { status: told.status, body: print(told, id) }
  }

export const asOpenai = rendering(openaiError)

export const asMessages = rendering(messagesError)

export const asGoogle = rendering(googleError)

/** What the errors of each dialect look like. */
export const openaiFaults = {
  default: v.pipe(
    v.object({
      error: v.object({
        message: v.string(),
        type: v.string(),
        param: v.nullable(v.string()),
        code: v.nullable(v.string()),
      }),
    }),
    v.title('OpenaiError'),
  ),
}

export const messagesFaults = {
  default: v.pipe(
    v.object({
      type: v.literal('error'),
      error: v.object({ type: v.string(), message: v.string(), code: v.optional(v.string()) }),
      request_id: v.string(),
    }),
    v.title('MessagesError'),
  ),
}

export const googleFaults = {
  default: v.pipe(
    v.object({
      error: v.object({
        code: v.number(),
        message: v.string(),
        status: v.string(),
        details: v.optional(v.array(v.looseObject({}))),
      }),
    }),
    v.title('GeminiError'),
  ),
}

/** A standard route under `/v1`: the same handler, with the keys and the errors of OpenAI's clients. */
export const atV1 = (route: AnyRoute): AnyRoute => ({
  ...route,
  path: route.path.replace(/^\/std\//, '/v1/'),
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  ...(route.body && route.body.read !== 'stream' && { body: { ...route.body, tooLarge: true } }),
})

/** Signs of life while the first event is awaited. */
export const waitingComment = () => ({ comment: 'waiting' })
