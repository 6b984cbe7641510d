import * as v from 'valibot'
import { sentenceOf } from '../dialects/sentence.ts'
import type { GatewayError, Validator } from '../errors.ts'

/** What every envelope says of its request. */
export interface About {
  readonly env: 'development' | 'production'
  /** A uuid v7: the request id and the support id in one. */
  readonly id: string
}

/** What an answer is wrapped in, where no other format is the rule. */
export const envelope = ({ env, id }: About, status: number, data: unknown, message: string | null) => ({
  status,
  data,
  error: null,
  message,
  env,
  log: { request_id: id },
  validator: null,
  support_id: id,
})

/** What goes out of a route that answers in the envelope with such data. */
export const enveloped = <S extends v.GenericSchema>(data: S) =>
  v.object({
    status: v.number(),
    data,
    error: v.null(),
    message: v.nullable(v.string()),
    env: v.picklist(['development', 'production']),
    log: v.object({ request_id: v.string() }),
    validator: v.null(),
    support_id: v.string(),
  })

/** The envelope of an error. Null data is the rule; sealed answers carry their own there. */
export const refusedEnvelope = (
  { env, id }: About,
  status: number,
  error: string,
  data: unknown,
  validator: Validator | null,
  code: string | null = null,
) => ({
  status,
  data,
  error,
  message: null,
  env,
  log: { request_id: id, ...(code !== null && { code }) },
  validator,
  support_id: id,
})

/** The door through which errors leave. */
export const errorEnvelope = (about: About, error: GatewayError) => {
  const { status, message, validator, told, code } = error
  const whole = told !== null || message === 'Validation failed' ? sentenceOf(error) : message
  return { status, body: refusedEnvelope(about, status, whole, null, validator, code) }
}

/** The short body that the encrypted routes use for 413 and 429; everything else is in the envelope. */
export const bareError = (about: About, error: GatewayError) =>
  error.status === 413 || error.status === 429
    ? { status: error.status, body: { status: error.status, error: error.message } }
    : errorEnvelope(about, error)
