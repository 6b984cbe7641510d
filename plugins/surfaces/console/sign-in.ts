import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import { ConsoleSessions } from './console-sessions.ts'
import { LoginCodes } from '../../shared/login-codes-port.ts'
import { BadRequest, Unauthorized } from '../../../core/errors.ts'
import { credentialOf } from '../../../core/http/access.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Settings } from '../../../core/settings.ts'
import { consoleSettings } from './settings.ts'

const lent = enveloped(
  v.object({
    credential: v.string(),
    /** Unix time in ms. */
    expires_at: v.number(),
  }),
)

/** Attempts a second from one address. */
const attempts = 5
/** Renewals a second from one address, behind which a whole office may be. */
const renewals = 50

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
    const link = await sessions.read(input.link)
    if (link === null) throw new Unauthorized()
    const { caller } = link.holder
    const { session, idle } = consoleSettings.of(settings)
    const open = () => sessions.open(link, session, idle)
    const { credential, expires_at } = await audit.record(actorOf(id, caller), 'session.open', caller.key, open)
    // The link is spent last, so a store that fails before leaves it good.
    if (await sessions.take(input.link)) return data({ credential, expires_at }, null, 201)
    await sessions.close(credential)
    throw new Unauthorized()
  },
})

/** A browser keeps cookies by host and not by port: each gateway of a host has a name of its own. */
const cookieName = ({ host = '' }: IncomingHttpHeaders): string =>
  `sealgate_console${/:(\d{1,5})$/.exec(host)?.[1] ?? ''}`

/** A browser sends the cookie to the routes below this one alone, and no script reads it. */
const cookieOf = (secret: string, ms: number, headers: IncomingHttpHeaders): string =>
  [
    `${cookieName(headers)}=${secret}`,
    `Max-Age=${Math.ceil(ms / 1000)}`,
    ...['HttpOnly', 'SameSite=Strict', ...(headers.origin?.startsWith('https:') ? ['Secure'] : [])],
  ].join('; ')

const sessionCookies = /(?:^|; ?)(sealgate_console\d{0,5})=([\w-]{43})(?=;|$)/g

/** Null without a cookie of this form. */
const secretIn = (headers: IncomingHttpHeaders): string | null => {
  for (const [, name, secret] of (headers.cookie ?? '').matchAll(sessionCookies))
    if (name === cookieName(headers)) return secret!
  return null
}

const hold = route({
  method: 'POST',
  path: '/console/session/key',
  summary: 'Opens a session for the key that is shown, and gives the browser a cookie that renews the session.',
  access: 'any-key',
  answer: lent,
  status: 201,
  needs: { sessions: ConsoleSessions, audit: Audit, settings: Settings },
  async handle({ id, caller, headers }, { sessions, audit, settings }) {
    if (isForeign(headers)) throw new Unauthorized()
    const { session, idle } = consoleSettings.of(settings)
    const open = () => sessions.hold(credentialOf({ headers }) ?? '', session, idle)
    const opened = await audit.record(actorOf(id, caller), 'session.open', caller.key, open)
    if (opened === null) throw new BadRequest('A login of an issuer has no session of the console')
    const { secret, credential, expires_at } = opened
    return {
      ...data({ credential, expires_at }, null, 201),
      headers: { 'set-cookie': cookieOf(secret, session, headers) },
    }
  },
})

const renew = route({
  method: 'POST',
  path: '/console/session/renewal',
  summary: 'Gives the session of the cookie again, for as long as somebody uses it. No other route takes the cookie.',
  access: 'unasked',
  attempts: renewals,
  answer: lent,
  needs: { sessions: ConsoleSessions, settings: Settings },
  async handle({ headers }, { sessions, settings }) {
    const secret = isForeign(headers) ? null : secretIn(headers)
    const { idle } = consoleSettings.of(settings)
    const session = secret && (await sessions.renew(secret, idle, credentialOf({ headers })))
    if (!session) throw new Unauthorized()
    return data(session)
  },
})

const leave = route({
  method: 'DELETE',
  path: '/console/session',
  summary: 'Ends the session whose credential is shown, or all of its key. A key is no session, and stays.',
  access: 'any-key',
  query: v.strictObject({ everywhere: v.optional(v.picklist(['true'])) }),
  needs: { sessions: ConsoleSessions },
  async handle({ headers, query }, { sessions }) {
    await sessions.close(credentialOf({ headers }) ?? '', query.everywhere === 'true')
    return data({}, 'Session ended')
  },
})

/** Each route that gives a credential refuses pages of other origins and bounds the attempts. */
export const signInRoutes = [logins, login, redeem, hold, renew, leave] as const
