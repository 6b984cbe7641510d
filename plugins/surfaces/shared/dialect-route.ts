import { BadRequest, TooLarge, type GatewayError } from '../../../core/errors.ts'
import type { Render } from '../../../core/http/route.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'

/** Headers in which clients of the public dialects put their key. */
export const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

/** The parts that routes of models share in every dialect. */
export const listing = { method: 'GET', access: 'any-key', keyHeaders, needs: { catalog: Catalog } } as const

/** The dialects know a status for what is too large. */
const sized = (error: GatewayError): GatewayError => {
  if (!(error instanceof BadRequest) || error.code !== 'request_too_large') return error
  const { message, validator, code, told, cause } = error
  return new TooLarge(message, { validator, code, told, cause })
}

/** Renders errors as a dialect tells them. */
export const rendering =
  (print: (error: GatewayError, id: string) => unknown): Render =>
  ({ id }, error) => {
    const told = sized(error)
    return { status: told.status, body: print(told, id) }
  }

/** Signs of life while the first event is awaited. */
export const waitingComment = () => ({ comment: 'waiting' })
