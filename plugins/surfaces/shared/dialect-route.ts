import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { BadRequest, TooLarge, type GatewayError } from '../../../core/errors.ts'
import type { Render } from '../../../core/http/route.ts'
import { messagesError, messagesStatus } from '../../shared/dialects/messages/error.ts'
import { openaiError } from '../../shared/dialects/responses/error.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { ModelRules } from '../../shared/rules/rules.ts'

/** Headers in which clients of the public dialects put their key. */
export const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key', 'x-sealgate-key'] as const

/** The `authorization` of a subscription at Anthropic, where another header brings the gateway's key; null for none. */
export const vendorKeyOf = (headers: IncomingHttpHeaders): string | null => {
  const { authorization = '', 'x-sealgate-key': own, 'api-key': azure } = headers
  return (own ?? azure) !== undefined && /^Bearer sk-ant-[\w-]{8,1024}$/.test(authorization) ? authorization : null
}

/** The `authorization` that may hold a key of the gateway. */
export const authorization = (headers: IncomingHttpHeaders): string | undefined =>
  vendorKeyOf(headers) === null ? headers.authorization : undefined

/** The parts that routes of models share in every dialect. */
export const listing = {
  method: 'GET',
  access: 'any-key',
  keyHeaders,
  authorization,
  needs: { catalog: Catalog, rules: ModelRules },
} as const

/** The dialects know a status for what is too large. */
const sized = (error: GatewayError): GatewayError => {
  if (!(error instanceof BadRequest) || error.code !== 'request_too_large') return error
  const { message, validator, code, told, cause } = error
  return new TooLarge(message, { validator, code, told, cause })
}

/** Renders errors as a dialect tells them. */
export const rendering =
  (print: (error: GatewayError, id: string) => unknown, statusOf = ({ status }: GatewayError) => status): Render =>
  ({ id }, error) => {
    const told = sized(error)
    return { status: statusOf(told), body: print(told, id) }
  }

/** Signs of life while the first event is awaited. */
export const waitingComment = () => ({ comment: 'waiting' })

/** Errors with a message, a type, the field that is wrong, and a code. */
export const asOpenai = rendering(openaiError)

/** The schema of such an error in the reference. */
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

/** What routes for clients of OpenAI share. */
export const ofOpenai = {
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
} as const

/** Errors with a type and the id of the request, as Anthropic's clients expect. */
export const asMessages = rendering(messagesError, messagesStatus)

/** The schema of such an error in the reference. */
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
