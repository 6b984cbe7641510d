import type { GatewayError } from '../../errors.ts'
import { sentenceOf } from '../sentence.ts'

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
}

/** An error as the dialect tells it, as a body and as the event that ends a broken stream. */
export const messagesError = (error: GatewayError, id: string) => ({
  type: 'error',
  error: {
    type: types[error.status] ?? 'api_error',
    message: sentenceOf(error),
    ...(error.code !== null && { code: error.code }),
  },
  request_id: id,
})
