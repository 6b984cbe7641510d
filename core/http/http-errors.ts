import { BadRequest, Forbidden, GatewayError, NotFound, TooMany, Unauthorized, Unavailable } from '../errors.ts'

/**
 * Errors of the HTTP library become ours; anything else is a fault and says nothing. Errors of vendors' clients have a
 * `status` too, and the library's alone have `expose`.
 */
export const knownError = (thrown: unknown): GatewayError => {
  if (thrown instanceof GatewayError) return thrown
  const { status, code, expose } = (thrown ?? {}) as Readonly<Record<'status' | 'code' | 'expose', unknown>>
  if (code === 'ERR_INVALID_URL') return new BadRequest('Malformed request', { cause: thrown })
  if (expose !== true) return new Unavailable(undefined, { cause: thrown })
  if (status === 401) return new Unauthorized({ cause: thrown })
  if (status === 403) return new Forbidden('Forbidden', { cause: thrown })
  if (status === 404) return new NotFound('Not found', { cause: thrown })
  if (status === 429) return new TooMany('Too many requests', { cause: thrown })
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new BadRequest('Bad request', { cause: thrown })
  return new Unavailable(undefined, { cause: thrown })
}

/** What of a refusal says whether, and when, the request may come again. */
export type Wait = Pick<GatewayError, 'status' | 'retryAfter'> & { readonly apart?: boolean }

/** Ms by which a wait may be longer for one caller than for another. */
const spanOf = (wait: number): number => Math.min(30_000, Math.max(250, wait))

/**
 * The time of the next try, in whole seconds and, for clients that read it, in ms. Each refusal draws its own
 * `fraction`: callers with the same time would all come back together.
 */
export const retryHeaders = (refusal: Wait, fraction: number): Record<string, string> => {
  const { retryAfter, apart } = refusal
  if (retryAfter === null || !Number.isFinite(retryAfter) || isHopeless(refusal))
    return isHopeless(refusal) ? { 'x-should-retry': 'false' } : {}
  const span = apart ? 0 : spanOf(retryAfter)
  const later = Math.floor(fraction * (1 + Math.ceil(span / 1000)))
  const seconds = Math.max(1, Math.ceil(retryAfter / 1000)) + (apart ? 0 : later)
  return { 'retry-after': `${seconds}`, 'retry-after-ms': `${Math.ceil(retryAfter + fraction * span)}` }
}

/** A retry has hope only with a time in the refusal, and only after what time heals. */
const isHopeless = ({ status, retryAfter }: Wait): boolean =>
  status === 429 || status === 503 ? retryAfter === null || !Number.isFinite(retryAfter) : true

/** How a caller whose key was refused shows one; `more` is what the route adds to it. */
export const challenge = ({ status }: GatewayError, more = ''): Readonly<Record<string, string>> =>
  status === 401 ? { 'www-authenticate': `Bearer realm="sealgate"${more}` } : {}
