import { BadRequest, type GatewayError } from '../../../core/errors.ts'
import type { Advice } from './advice.ts'
import type { OrderedJson, Usage } from '../../../core/ports/upstream.ts'
import { sentenceOf } from '../../../core/dialects/sentence.ts'

/** The answer to one question. All numbers except the score are between 0 and 1. */
export type Answer =
  | {
      readonly type: 'choice'
      readonly choice: string
      readonly probabilities: ReadonlyMap<string, number>
      readonly confidence: number
      /** Of a calibrated model, as in the two others that follow. */
      readonly advice?: Advice
    }
  | { readonly type: 'noul'; readonly noul: number; readonly advice?: Advice }
  /** Only where a request lets single questions be declined. */
  | { readonly type: 'refusal' }
  | {
      readonly type: 'score'
      readonly score: number
      readonly legend: ReadonlyMap<string, OrderedJson>
      readonly probabilities: ReadonlyMap<string, number>
      readonly confidence: number
      readonly advice?: Advice
    }

/** A whole answer, before a route prints it. */
export interface Answered {
  /** Ours, resolved. */
  readonly model: string
  /** By the caller's ids, in the caller's order. */
  readonly answers: ReadonlyMap<string, Answer>
  readonly usage: Usage
  readonly diagnostics: Readonly<Record<string, unknown>>
}

/** Estimated counts may be fractions, and the interface promises integers. */
export const wholeTokens = (count: number) => Math.max(0, Math.round(count))

/** The body of an answer; numbers keep every digit, maps their order. */
export const printAnswered = (
  { model, answers, usage, diagnostics }: Answered,
  under: 'diagnostics' | 'x_diagnostics',
): Record<'model' | 'answers' | 'usage', unknown> => ({
  model,
  answers,
  usage: { input_tokens: wholeTokens(usage.input), output_tokens: wholeTokens(usage.output) },
  [under]: diagnostics,
})

const kinds: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication_error',
  403: 'permission_denied',
  404: 'not_found',
  413: 'too_large',
  429: 'rate_limited',
  502: 'upstream_failed',
}

/** Errors as System-One clients know them: a list for what is wrong with a body, one object for everything else. */
export const printDetail = (error: GatewayError): { readonly status: number; readonly body: unknown } => {
  const { status, message, validator } = error
  if (!(error instanceof BadRequest) || validator === null) {
    const sentence = error.told === null ? message : sentenceOf(error)
    return { status, body: { detail: { error_type: kinds[status] ?? 'unavailable', message: sentence } } }
  }
  const detail = Object.entries(validator).map(([path, msg]) => ({
    loc: path === 'body' ? ['body'] : ['body', ...path.split('.')],
    msg,
    type: 'value_error',
  }))
  return { status: 422, body: { detail } }
}
