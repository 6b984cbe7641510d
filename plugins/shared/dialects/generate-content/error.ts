import type { GatewayError } from '../../../../core/errors.ts'
import { sentenceOf } from '../../../../core/dialects/sentence.ts'

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

/** An error as Google's dialect tells it, as a body and as the piece that ends a broken stream. */
export const googleError = (error: GatewayError) => {
  const { status, code } = error
  const named = statuses[status] ?? 'INTERNAL'
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code }
  return {
    error: { code: status, message: sentenceOf(error), status: named, ...(code !== null && { details: [info] }) },
  }
}
