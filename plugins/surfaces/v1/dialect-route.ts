import * as v from 'valibot'
import { messagesError } from '../../../core/dialects/messages/error.ts'
import { openaiError } from '../../../core/dialects/responses/error.ts'
import type { AnyRoute } from '../../../core/http/route.ts'
import { keyHeaders, rendering } from '../shared/dialect-route.ts'

/** Errors with a message, a type, the field that is wrong, and a code. */
export const asOpenai = rendering(openaiError)

/** Errors with a type and the id of the request, as Anthropic's clients expect. */
export const asMessages = rendering(messagesError)

/** The form of errors in each dialect. */
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

/** A standard route under `/v1`: the same handler, with the keys and the errors of OpenAI's clients. */
export const atV1 = (route: AnyRoute): AnyRoute => ({
  ...route,
  path: route.path.replace(/^\/std\//, '/v1/'),
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  ...(route.body && route.body.read !== 'stream' && { body: { ...route.body, tooLarge: true } }),
})
