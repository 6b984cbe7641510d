import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerEvent } from '../dialects/event.ts'
import type { GatewayError, Validator } from '../errors.ts'
import * as v from 'valibot'
import { sentenceOf } from '../dialects/sentence.ts'

export type { ServerEvent } from '../dialects/event.ts'

/** What a handler gives back. It never touches the HTTP library. */
export type Reply = (
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'text'; readonly status: number; readonly type: string; readonly text: string | Uint8Array }
  | { readonly kind: 'data'; readonly status: number; readonly data: unknown; readonly message: string | null }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly error: string
      readonly data: unknown
      readonly retryAfter: number | null
    }
  | {
      readonly kind: 'bytes'
      readonly status: number
      readonly type: string
      readonly size: number | null
      readonly bytes: AsyncIterable<Uint8Array>
    }
  | {
      readonly kind: 'events'
      readonly events: AsyncIterable<ServerEvent>
      readonly quiet: Quiet | null
      readonly broken: Broken
      /** Headers that are known when the first event goes; null for none. */
      readonly late: (() => Headers) | null
    }
  | { readonly kind: 'own'; readonly status: number; readonly answer: OwnAnswer }
) & { readonly headers?: Readonly<Record<string, string>> }

/** Answers by itself; a throw before that is answered like any other. The request holds its places and its key until `closed`. */
export type OwnAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string | number>,
) => Promise<{ readonly closed: Promise<void> }>

/** What to say while the first event is awaited, every `timeouts.heartbeat`. */
export type Quiet = () => ServerEvent

/** The last event of a stream that breaks after something was already sent; null to end without a word. */
export type Broken = (error: GatewayError) => ServerEvent | null

type Headers = Readonly<Record<string, string>>

/** A body that is sent as it is. */
export const json = (body: unknown, status = 200, headers: Headers = {}): Reply => ({
  kind: 'json',
  status,
  body,
  headers,
})

/** JSON that is already text, or any other text; a text that never changes is best given as bytes, which all answers share. */
export const text = (
  text: string | Uint8Array,
  type = 'application/json; charset=utf-8',
  status = 200,
  headers: Headers = {},
): Reply => ({
  kind: 'text',
  status,
  type,
  text,
  headers,
})

/** A body inside the envelope. */
export const data = (data: unknown, message: string | null = null, status = 200): Reply => ({
  kind: 'data',
  status,
  data,
  message,
})

/** An error that is an answer and no fault of ours: in what it carries, what exactly went wrong is sealed. `retryAfter` is in ms. */
export const refused = (
  status: number,
  error: string,
  data: unknown,
  retryAfter: number | null = waits[status] ?? null,
): Reply => ({
  kind: 'refused',
  status,
  error,
  data,
  retryAfter,
})

/** Ms after which refusals are over that pass by themselves. */
const waits: Readonly<Record<number, number>> = { 429: 2_000, 503: 1_000 }

/** A body that comes in pieces. A null size leaves out `content-length`, so the answer is sent in chunks. */
export const bytes = (
  bytes: AsyncIterable<Uint8Array>,
  type: string,
  size: number | null = null,
  status = 200,
  headers: Headers = {},
): Reply => ({ kind: 'bytes', status, type, size, bytes, headers })

/** A stream of server-sent events. An error thrown before anything was sent is answered like any other, later ones by `broken`. */
export const events = (
  events: AsyncIterable<ServerEvent>,
  broken: Broken,
  quiet: Quiet | null = null,
  headers: Headers = {},
  late: (() => Headers) | null = null,
): Reply => ({ kind: 'events', events, broken, quiet, headers, late })

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
