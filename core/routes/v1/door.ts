import { messagesError } from '../../dialects/messages/error.ts'
import { googleError } from '../../dialects/generate-content/error.ts'
import { openaiError } from '../../dialects/responses/error.ts'
import type { AnyRoute, Render } from '../../http/route.ts'

/** Headers in which clients of the public dialects put their key. */
export const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

export const asOpenai: Render = (_, error) => ({ status: error.status, body: openaiError(error) })

export const asMessages: Render = ({ id }, error) => ({ status: error.status, body: messagesError(error, id) })

export const asGoogle: Render = (_, error) => ({ status: error.status, body: googleError(error) })

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
