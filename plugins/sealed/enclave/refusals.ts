import * as v from 'valibot'
import type { GatewayError } from '../../../core/errors.ts'
import { checkedWithin } from '../../../core/validate.ts'

/** The fixed texts for refusing an opened request. No text quotes the request. */
export const refusalTexts = {
  sealed_elsewhere: { status: 400, message: 'The request was sealed for another route' },
  invalid_parameters: { status: 400, message: 'The sealed parameters are not valid' },
  refused: { status: 400, message: 'The backend refused the request' },
  context_length_exceeded: { status: 400, message: 'The backend refused the request' },
  content_filter: { status: 400, message: 'The backend refused the request' },
  unsupported_parameter: { status: 400, message: 'The backend refused the request' },
  invalid_image: { status: 400, message: 'The backend refused the request' },
  request_too_large: { status: 400, message: 'The backend refused the request' },
  guard_refused: { status: 400, message: 'A guard refuses the call' },
  unknown_model: { status: 404, message: 'Unknown model' },
  model_is_rule: { status: 400, message: 'A rule chooses models for chats in the clear alone' },
  unknown_tool: { status: 404, message: 'Unknown tool' },
  unknown_file: { status: 404, message: 'Unknown file' },
  unreadable_file: { status: 400, message: 'The file could not be read' },
  not_configured: { status: 400, message: 'This deployment is not set up for it' },
  too_large: { status: 400, message: 'The result is too large' },
  window_used_up: { status: 429, message: 'Too many requests' },
  busy: { status: 429, message: 'Too many requests' },
  insufficient_quota: { status: 429, message: 'Too many requests' },
  upstream_failed: { status: 502, message: 'Upstream service failed' },
  model_not_found: { status: 502, message: 'Upstream service failed' },
  backend_unverified: { status: 502, message: 'Upstream service failed' },
  unavailable: { status: 503, message: 'Service temporarily unavailable' },
} as const

/** The codes that a client reads inside the seal. */
export type SealedRefusalCode = keyof typeof refusalTexts

/**
 * A failure after opening. `field` is a path in the caller's own parameters. The field and a backend's own sentence
 * travel sealed.
 */
export class Refusal extends Error {
  readonly code: SealedRefusalCode
  readonly field: string | null
  readonly told: string | null
  /** In ms; null when no time is known. */
  readonly retryAfter: number | null
  constructor(
    code: SealedRefusalCode,
    field: string | null = null,
    { told, retryAfter }: Partial<Pick<GatewayError, 'told' | 'retryAfter'>> = {},
  ) {
    super(refusalTexts[code].message)
    this.code = code
    this.field = field
    this.told = told ?? null
    this.retryAfter = retryAfter ?? null
  }
}

/** Throws a Refusal that names the first invalid field. */
export const checkParameters = <S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> => {
  const { output, issues } = checkedWithin(schema, given, 1)
  if (issues === null) return output
  throw new Refusal('invalid_parameters', v.getDotPath(issues[0])?.slice(0, 100) ?? null)
}
