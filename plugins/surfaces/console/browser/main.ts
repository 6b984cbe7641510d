import { type Arrival, arrivalAt } from './arrival.ts'
import { el } from './element.ts'
import { Refused, baseOf, gatewayAt } from './gateway.ts'
import type { Inside } from './inside.ts'
import { fetchLater } from './later.ts'
import { exchanged, redeemed, returned } from './login.ts'
import { takenToken } from './own-machine.ts'
import { type Pass, isOfLink, sessionOf } from './session.ts'
import { signIn } from './sign-in.ts'

const session = sessionOf(sessionStorage)
const base = baseOf(location)
const outside = gatewayAt(base, null, new AbortController().signal)

/** The longest time that a timer takes. */
const mostMs = 2 ** 31 - 1

let inside: Inside | null = null
let ending: ReturnType<typeof setTimeout> | undefined

const leave = (why: Error | null): void => {
  const pass = session.pass()
  inside?.end()
  inside = null
  clearTimeout(ending)
  session.close()
  document.title = 'Sign in · sealgate'
  document.body.replaceChildren(signIn({ base, gateway: outside, why, open }))
  document.getElementById('key')?.focus()
  // The form is painted before the browser is busy with the rest.
  requestAnimationFrame(() => setTimeout(fetchLater))
  if (why === null && pass !== null && isOfLink(pass)) void revoke(pass)
}

/** Signing out ends the credential of a link at the gateway too. */
const revoke = async ({ credential }: Pass): Promise<void> => {
  try {
    await gatewayAt(base, credential, new AbortController().signal).ask('DELETE', '/console/session')
  } catch (error) {
    if (inside === null) leave(asError(error))
  }
}

const asError = (error: unknown): Error | null => (error instanceof Error ? error : null)

const open = async (pass: Pass, keep: boolean): Promise<void> => {
  fetchLater()
  const { enter } = await import('./inside.ts')
  const entered = await enter(base, pass, leave)
  inside?.end()
  clearTimeout(ending)
  inside = entered
  session.open(pass, keep)
  const { until } = pass
  const end = (): void => leave(new Refused(401, 'The time of this sign-in is over'))
  if (until !== null) ending = setTimeout(end, Math.min(mostMs, until - Date.now()))
  await inside.turn()
}

/** Signs in by what the address brought. Throws Refused. */
const admit = async (arrival: Arrival): Promise<void> => {
  if (arrival.by === 'link') return open(await redeemed(outside, arrival.link), false)
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

const begin = async (): Promise<void> => {
  const arrival = arrivalAt(location, history)
  const pass = givenPass()
  if (arrival === null && pass === null) return leave(null)
  document.body.replaceChildren(el('main', { class: 'sign-in' }, el('p', { role: 'status' }, 'Signing in')))
  try {
    if (arrival !== null) await admit(arrival)
    else if (pass !== null) await open(pass, true)
  } catch (error) {
    leave(asError(error))
  }
}

/** A link that is pasted into an open tab brings no new document. */
const turned = (): void => {
  if (inside === null || location.hash.startsWith('#link=')) void begin()
  else void inside.turn()
}

addEventListener('hashchange', turned)
void begin()
