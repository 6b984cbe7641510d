import {
  BadRequest,
  Conflict,
  Forbidden,
  type GatewayError,
  NotFound,
  TooLarge,
  TooMany,
  Unauthorized,
  Unavailable,
  UpstreamFailed,
  WrongMethod,
} from '../../../core/errors.ts'
import { errorEnvelope } from '../../../core/http/reply.ts'
import type { JsonSchema } from '../../../core/ports/chapter.ts'
import type { AnyRoute } from '../../../core/http/route.ts'

interface Sample {
  readonly about: string
  readonly error: GatewayError
}

const wrong = { validator: { model: 'Required' } }

/** What each status means, with an error that gives it. */
export const samples: Readonly<Record<number, Sample>> = {
  400: {
    about: 'The request is not as expected, or the backend refuses it as the caller’s mistake.',
    error: new BadRequest('Validation failed', wrong),
  },
  401: {
    about: 'The key is missing, malformed, unknown, expired or revoked. The words are always the same.',
    error: new Unauthorized(),
  },
  403: {
    about: 'The key lacks the scope or the right for this.',
    error: new Forbidden('Missing required permissions'),
  },
  404: {
    about: 'The thing does not exist, or the key may not see it.',
    error: new NotFound('The model does not exist or the key may not use it', { code: 'model_not_found' }),
  },
  405: {
    about: 'The path takes the methods of the header `allow` alone.',
    error: new WrongMethod('This path takes POST'),
  },
  409: {
    about: 'Something that goes on excludes the request for now.',
    error: new Conflict('A drill is under way in this process'),
  },
  413: {
    about: 'The body is too large for this route.',
    error: new TooLarge('The body is too large', { code: 'request_too_large' }),
  },
  422: {
    about: 'The body is not as expected.',
    error: new BadRequest('Validation failed', { validator: { state: 'Required' } }),
  },
  429: {
    about: 'A limit, an allowance or a budget is used up, or every place is taken.',
    error: new TooMany('Too many requests', { retryAfter: 1000 }),
  },
  502: {
    about: 'Every backend that was tried failed.',
    error: new UpstreamFailed(),
  },
  503: {
    about: 'A store, or every backend, is out of reach for the moment.',
    error: new Unavailable(),
  },
}

const namesModel = ({ body, path }: AnyRoute): boolean =>
  path.includes('{') ||
  Object.hasOwn((body?.schema as { readonly entries?: object } | undefined)?.entries ?? {}, 'model')

/** The statuses of errors that a route may answer with. */
export const statusesOf = (route: AnyRoute, more: readonly number[]): readonly number[] => {
  const { access, faults = {}, body } = route
  const asks = access !== 'unasked' || route.attempts !== undefined
  const statuses = [
    ...(body || route.query ? [400] : []),
    ...(asks ? [401, 429, 503] : []),
    ...(typeof access === 'object' ? [403] : []),
    ...(namesModel(route) ? [404] : []),
    ...(body && 'tooLarge' in body ? [413] : []),
    ...Object.keys(faults).map(Number).filter(Number.isInteger),
    ...more,
  ]
  return [...new Set(statuses)].sort((one, other) => one - other)
}

const about = { env: 'production', id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' } as const

/** An error of this status as the route writes it, whose own status may be another; the body is JSON. */
export const exampleOf = (route: AnyRoute, status: number): { readonly status: number; readonly body: unknown } => {
  const { error } = status === 400 && route.faults?.[422] ? { error: malformed } : sampleOf(status)
  const written = (route.errors ?? errorEnvelope)(about, error, {})
  return { status: written.status, body: JSON.parse(JSON.stringify(written.body)) }
}

/** Where a wrong field is a 422, a 400 names none. */
const malformed = new BadRequest('Malformed JSON')

/** Throws for a status that no error has. */
export const sampleOf = (status: number): Sample => {
  const sample = samples[status]
  if (sample === undefined) throw new Error(`No error has the status ${status}`)
  return sample
}

const waits = {
  'retry-after': { $ref: '#/components/headers/retry-after' },
  'retry-after-ms': { $ref: '#/components/headers/retry-after-ms' },
} as const

/** Headers of an answer with this status. */
export const headersOf = (status: number): JsonSchema => ({
  'x-request-id': { $ref: '#/components/headers/x-request-id' },
  ...((status === 429 || status === 503) && waits),
  ...(status === 405 && { allow: { $ref: '#/components/headers/allow' } }),
  ...(status >= 400 && { 'x-should-retry': { $ref: '#/components/headers/x-should-retry' } }),
})

const header = (description: string, type: string, example: unknown): JsonSchema => ({
  description,
  schema: { type },
  example,
})

export const headers: Readonly<Record<string, JsonSchema>> = {
  'x-request-id': header('The id of the request, which the log knows too.', 'string', about.id),
  allow: header('The methods that the path takes.', 'string', 'POST'),
  'retry-after': header('Seconds after which the request may come again.', 'integer', 1),
  'retry-after-ms': header('Milliseconds after which the request may come again.', 'integer', 1250),
  'x-should-retry': header('Says `false` where the same request fares no better a second time.', 'string', 'false'),
}
