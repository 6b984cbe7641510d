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

/** A standard route under `/v1`: the same handler, with the keys and the errors of OpenAI's clients. */
export const opened = (route: AnyRoute): AnyRoute => ({
  ...route,
  path: route.path.replace(/^\/std\//, '/v1/'),
  keyHeaders,
  errors: asOpenai,
  ...(route.body && route.body.read !== 'stream' && { body: { ...route.body, tooLarge: true } }),
})

/** Signs of life while the first event is awaited. */
export const waiting = () => ({ comment: 'waiting' })
