import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import { ConsoleSessions } from '../../../core/access/console-sessions.ts'
import { LoginCodes } from '../../../core/access/login-codes.ts'
import { Unauthorized } from '../../../core/errors.ts'
import { credentialOf } from '../../../core/http/access.ts'
import { enveloped } from '../../../core/http/envelope.ts'
import { data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Settings } from '../../../core/settings.ts'

const lent = enveloped(
  v.object({
    credential: v.string(),
    /** Unix time in ms. */
    expires_at: v.number(),
  }),
)

/** Attempts a second from one address. */
const attempts = 5

/** Whether a page of another origin sends the request. A program that is no browser says nothing of a page. */
const isForeign = ({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean => {
  if (site !== undefined) return site !== 'same-origin'
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === host)
}

const logins = route({
  method: 'GET',
  path: '/console/logins',
  summary: 'The logins that the console offers.',
  access: 'unasked',
  answer: enveloped(
    v.object({ logins: v.array(v.object({ name: v.string(), authorize: v.string(), redirect: v.string() })) }),
  ),
  needs: { codes: LoginCodes },
  handle: (_, { codes }) => data({ logins: codes.offers() }),
})

const text = (most: number) => v.pipe(v.string(), v.maxLength(most))
/** 32 bytes in base64url. */
const secret = v.pipe(v.string(), v.regex(/^[\w-]{43}$/, '32 bytes in base64url'))

const login = route({
  method: 'POST',
  path: '/console/logins/{issuer}',
  summary: 'Exchanges the code of an issuer for the access token of its reader.',
  access: 'unasked',
  attempts,
  body: {
    read: 'json',
    bytes: 16 * 1024,
    schema: v.strictObject({ code: text(8_192), verifier: secret, nonce: secret, iss: v.optional(text(2_048)) }),
  },
  answer: lent,
  needs: { codes: LoginCodes },
  async handle({ input, params, headers, signal }, { codes }) {
    if (isForeign(headers)) throw new Unauthorized()
    const token = await codes.exchange(params.issuer, input, signal)
    if (token === null) throw new Unauthorized()
    return data(token)
  },
})

const redeem = route({
  method: 'POST',
  path: '/console/session',
  summary: 'Exchanges the link of a first start for a session of the console, once.',
  access: 'unasked',
  attempts,
  body: { read: 'json', bytes: 1024, schema: v.strictObject({ link: text(256) }) },
  answer: lent,
  status: 201,
  needs: { sessions: ConsoleSessions, audit: Audit, settings: Settings },
  async handle({ id, input, headers }, { sessions, audit, settings }) {
    if (isForeign(headers)) throw new Unauthorized()
    const link = await sessions.take(input.link)
    if (link === null) throw new Unauthorized()
    const { caller } = link.holder
    const open = () => sessions.open(link, settings.console.session)
    return data(await audit.record(actorOf(id, caller), 'session.open', caller.key, open), null, 201)
  },
})

const leave = route({
  method: 'DELETE',
  path: '/console/session',
  summary: 'Ends the session whose credential is shown. A key is no session, and stays.',
  access: 'any-key',
  needs: { sessions: ConsoleSessions },
  async handle({ headers }, { sessions }) {
    await sessions.close(credentialOf({ headers }) ?? '')
    return data({}, 'Session ended')
  },
})

/** Each route that gives a credential refuses pages of other origins and bounds the attempts. */
export const signInRoutes = [logins, login, redeem, leave] as const
