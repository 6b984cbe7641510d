import type { GatewayError } from '../../../../core/errors.ts'
import { sentenceOf } from '../../../../core/dialects/sentence.ts'

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

/** The status of the dialect: its clients know 529 for what time heals. */
export const messagesStatus = ({ status }: Pick<GatewayError, 'status'>): number => (status === 503 ? 529 : status)

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
