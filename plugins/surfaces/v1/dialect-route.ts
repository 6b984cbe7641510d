import { NotFound } from '../../../core/errors.ts'
import type { AnyRoute, Render } from '../../../core/http/route.ts'
import { asOpenai, keyHeaders, openaiFaults } from '../shared/dialect-route.ts'

/** An error about a path that no route has: no model is missing there. */
export const asUnknownUrl: Render = (about, error) =>
  asOpenai(about, error instanceof NotFound ? new NotFound(error.message, { code: 'unknown_url' }) : error)

/** A standard route under `/v1`: the same handler, with the keys and the errors of OpenAI's clients. */
export const atV1 = (route: AnyRoute): AnyRoute => ({
  ...route,
  path: route.path.replace(/^\/std\//, '/v1/'),
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  ...(route.body && route.body.read !== 'stream' && { body: { ...route.body, tooLarge: true } }),
})
