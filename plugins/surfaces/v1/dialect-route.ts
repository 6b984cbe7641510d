import type { IncomingHttpHeaders } from 'node:http'
import { NotFound } from '../../../core/errors.ts'
import type { AnyRoute, Render } from '../../../core/http/route.ts'
import { asMessages, asOpenai, keyHeaders, openaiFaults } from '../shared/dialect-route.ts'

/** Callers of the Messages dialect name its version on every request. */
export const speaksMessages = (headers: IncomingHttpHeaders): boolean => headers['anthropic-version'] !== undefined

/** Errors where one address serves two dialects, in that of the caller. */
export const asSpoken: Render = (about, error, headers) =>
  (speaksMessages(headers) ? asMessages : asOpenai)(about, error, headers)

/** An error about a path that no route has: no model is missing there. */
export const asUnknownUrl: Render = (about, error, headers) =>
  asSpoken(about, error instanceof NotFound ? new NotFound(error.message, { code: 'unknown_url' }) : error, headers)

/** A standard route under `/v1`: the same handler, with the keys and the errors of OpenAI's clients. */
export const atV1 = (route: AnyRoute): AnyRoute => ({
  ...route,
  path: route.path.replace(/^\/std\//, '/v1/'),
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  ...(route.body && route.body.read !== 'stream' && { body: { ...route.body, tooLarge: true } }),
})
