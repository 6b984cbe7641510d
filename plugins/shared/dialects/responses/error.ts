import type { GatewayError } from '../../../../core/errors.ts'
import { sentenceOf } from '../../../../core/dialects/sentence.ts'

const types: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ['invalid_request_error', null],
  401: ['authentication_error', 'invalid_api_key'],
  403: ['permission_error', 'insufficient_permissions'],
  404: ['invalid_request_error', 'model_not_found'],
  405: ['invalid_request_error', 'method_not_supported'],
  413: ['invalid_request_error', 'request_too_large'],
  426: ['invalid_request_error', null],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
}

/** An error as OpenAI's dialects tell it. */
export const openaiError = (error: GatewayError) => {
  const [type, code] = types[error.status] ?? ['server_error', null]
  const [param] = Object.keys(error.validator ?? {})
  return { error: { message: sentenceOf(error), type, param: param ?? null, code: error.code ?? code } }
}
