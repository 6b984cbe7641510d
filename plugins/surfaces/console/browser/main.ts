import { type Arrival, arrivalAt } from './arrival.ts'
import { el } from './element.ts'
import { Refused, baseOf, gatewayAt, mayPass, unlessRefused } from './gateway.ts'
import type { Inside } from './inside.ts'
import { exchanged, heldBy, redeemed, renewed, returned } from './login.ts'
import { isOwnPage, takenToken } from './own-machine.ts'
import { type Pass, isKey, isSession, sessionOf } from './session.ts'
import { signIn } from './sign-in.ts'

const session = sessionOf(sessionStorage)
const base = baseOf(location)
const outside = gatewayAt(base, null, new AbortController().signal)

/** The longest time that a timer takes. */
const mostMs = 2 ** 31 - 1
/** The longest time between two renewals of a session in use; in ms. */
const renewalMs = 60_000

let inside: Inside | null = null
let ending: ReturnType<typeof setTimeout> | undefined
/** Unix time in ms at which the session ends; null where the tab does not know. */
let endsAt: number | null = null
let nextRenewal = 0

/** Lets the browser fetch all scripts behind the first view at once. The document names the hash of each, and the browser checks it. */
const fetchLater = (): void => {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="later"]')) link.rel = 'modulepreload'
}

const waiting = (words: string): void =>
  document.body.replaceChildren(el('main', { class: 'sign-in' }, el('p', { role: 'status' }, words)))

const showSignIn = (why: Error | null, again: (() => Promise<void>) | null = null): void => {
  const openHeld = async (given: Pass): Promise<void> => open(await held(given), true)
  document.body.replaceChildren(signIn({ base, gateway: outside, why, again, open: openHeld }))
  document.getElementById('key')?.focus()
  // The form is painted before the browser is busy with the rest.
  requestAnimationFrame(() => setTimeout(fetchLater))
}

/** Ends the session at the gateway, too. The form comes when the gateway has ended the session, or says that it has not. */
const signOut = async ({ credential }: Pass): Promise<void> => {
  waiting('Signing out')
  const gateway = gatewayAt(base, credential, new AbortController().signal)
  const why = await gateway.ask('DELETE', '/console/session').then(() => null, asError)
  if (inside === null) showSignIn(why)
}

/** The reader leaves, or `why` says what has ended. */
const leave = (why: Error | null): void => {
  const pass = session.pass()
  inside?.end()
  inside = null
  endAt(null)
  session.close()
  document.title = 'Sign in · sealgate'
  if (why === null && pass !== null && isSession(pass)) void signOut(pass)
  else showSignIn(why)
}

const asError = (error: unknown): Error | null => (error instanceof Error ? error : null)

const endAt = (until: number | null): void => {
  clearTimeout(ending)
  endsAt = until
  if (until === null) return
  const left = until - Date.now()
  nextRenewal = Date.now() + Math.min(renewalMs, left / 4)
  ending = setTimeout(() => void end(), Math.min(mostMs, left))
}

/** The gateway alone tells the end of a session: the clock of the reader may be ahead, or the gateway away. */
const end = async (): Promise<void> => {
  const [pass, until] = [session.pass(), endsAt]
  if (pass === null) return
  const lives = await gatewayAt(base, pass.credential, new AbortController().signal)
    .text('/')
    .then(() => true, mayPass)
  // The session may have been renewed meanwhile.
  if (session.pass() !== pass || endsAt !== until) return
  if (lives) endAt(Date.now() + renewalMs)
  else leave(new Refused(401, 'The time of this sign-in is over'))
}

/** The use of the page renews its session. A renewal that fails leaves the end where it stands. */
const used = (): void => {
  const pass = session.pass()
  if (inside === null || pass === null || !isSession(pass) || Date.now() < nextRenewal) return
  nextRenewal = Date.now() + renewalMs
  // The cookie may be that of a later session of another tab.
  void renewed(gatewayAt(base, pass.credential, new AbortController().signal)).then(
    ({ credential, until }) => {
      if (session.pass()?.credential === credential) endAt(until)
    },
    () => endAt(endsAt),
  )
}

/** The session of a key or a link, which the browser finds again when the page is loaded again. */
const held = async (pass: Pass): Promise<Pass> => {
  if (!isKey(pass.credential) && !isSession(pass)) return pass
  const gateway = gatewayAt(base, pass.credential, new AbortController().signal)
  return { ...(await heldBy(gateway)), ...(isKey(pass.credential) && { hint: pass.credential.slice(-4) }) }
}

/** Loaded again, the tab knows the id of its key, and may find a session that another tab began with another one. */
const markAddress = (): void => history.replaceState(inside?.key ?? null, '')

/** Throws Refused, also where the pass is that of another key than the wanted one. */
const open = async (pass: Pass, keep: boolean, wanted: unknown = null): Promise<void> => {
  fetchLater()
  const { enter } = await import('./inside.ts')
  const entered = await enter(base, pass, leave)
  inside?.end()
  if (wanted !== null && entered.key !== wanted) {
    entered.end()
    throw new Refused(401, 'Another tab has signed in with another key. Sign in again')
  }
  inside = entered
  session.open(pass, keep)
  markAddress()
  endAt(pass.until)
  await inside.turn()
}

/** Signs in by what the address brought. Throws Refused. */
const admit = async (arrival: Arrival): Promise<void> => {
  if (arrival.by === 'link') return open(await held(await redeemed(outside, arrival.link)), false)
  const answer = returned(arrival.answer, sessionStorage)
  const pass = await exchanged(outside, answer)
  history.replaceState(null, '', answer.hash || location.pathname)
  return open(pass, answer.keep)
}

/** The token of the reader's own machine goes before what the tab has kept. */
const givenPass = (): Pass | null => {
  const token = takenToken(location, history)
  return token === null ? session.pass() : { credential: token, until: null }
}

/** The session of the browser, which another tab may have begun. */
const foundPass = async (): Promise<Pass | null> =>
  isOwnPage(document) ? null : unlessRefused(renewed(outside), 401, 404)

const begin = async (arrival = arrivalAt(location, history)): Promise<void> => {
  waiting('Signing in')
  try {
    if (arrival !== null) return await admit(arrival)
    const given = givenPass()
    const pass = given ?? (await foundPass())
    if (pass === null) return leave(null)
    await open(pass, true, given === null ? history.state : null)
  } catch (error) {
    // A session and a link live while the gateway is away.
    if (arrival?.by !== 'login' && mayPass(error)) showSignIn(error, () => begin(arrival))
    else leave(asError(error))
  }
}

/** A link that is pasted into an open tab brings no new document. */
const turned = (): void => {
  if (inside === null || location.hash.startsWith('#link=')) return void begin()
  markAddress()
  void inside.turn()
}

addEventListener('hashchange', turned)
for (const use of ['pointerdown', 'keydown']) addEventListener(use, used)
void begin()
