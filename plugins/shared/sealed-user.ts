import type { IncomingHttpHeaders } from 'node:http'
import { BadRequest } from '../../core/errors.ts'

/** The header in which a sealed call names its end user, since its `user` is sealed. */
export const userHeader = 'x-sealgate-user'

/** Characters of a name. */
const most = 256

/** Whom a sealed call answers, for the windows of end users; undefined for nobody. Throws BadRequest. */
export const sealedUser = (headers: IncomingHttpHeaders): string | undefined => {
  const user = headers[userHeader]
  if (user === undefined || user === '') return undefined
  if (typeof user === 'string' && user.length <= most) return user
  throw new BadRequest('The end user is malformed', {
    validator: { [userHeader]: `Expected at most ${most} characters` },
  })
}
