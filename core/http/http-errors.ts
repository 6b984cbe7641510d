import { BadRequest, GatewayError, NotFound, Unavailable } from '../errors.ts'

/** Errors of the HTTP library become ours; anything else is a fault and says nothing. */
export const known = (thrown: unknown): GatewayError => {
  if (thrown instanceof GatewayError) return thrown
  const { status, code } = (thrown ?? {}) as { readonly status?: unknown; readonly code?: unknown }
  if (code === 'ERR_INVALID_URL') return new BadRequest('Malformed request', { cause: thrown })
  if (status === 404) return new NotFound('Not found', { cause: thrown })
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new BadRequest('Bad request', { cause: thrown })
  return new Unavailable(undefined, { cause: thrown })
}

/** The delay until the next try, in whole seconds for all clients and in ms for clients that read it. */
export const retryHeaders = ({ retryAfter }: GatewayError): Readonly<Record<string, string>> =>
  retryAfter === null || !Number.isFinite(retryAfter)
    ? {}
    : {
        'retry-after': String(Math.max(1, Math.ceil(retryAfter / 1000))),
        'retry-after-ms': String(Math.ceil(retryAfter)),
      }

/** How a caller whose key was refused shows one. */
export const challenge = ({ status }: GatewayError): Readonly<Record<string, string>> =>
  status === 401 ? { 'www-authenticate': 'Bearer realm="sealgate"' } : {}
