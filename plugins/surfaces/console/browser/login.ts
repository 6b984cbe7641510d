import { type Gateway, Refused } from './gateway.ts'
import type { Pass } from './session.ts'

/** A login that the gateway offers. */
export interface Offer {
  readonly name: string
  /** Where the login begins, with all that the gateway says to its issuer. */
  readonly authorize: string
  /** Where the issuer sends the reader back: the console's one address for logins. */
  readonly redirect: string
}

/** A login on its way. It stands in the session storage of the tab until the issuer sends the reader back. */
interface Departure {
  readonly name: string
  readonly state: string
  readonly nonce: string
  /** The code alone is worth nothing. */
  readonly verifier: string
  readonly keep: boolean
  /** The page that the reader wanted. */
  readonly hash: string
}

/** What the issuer's answer and the tab know together. */
export interface Return extends Pick<Departure, 'name' | 'nonce' | 'verifier' | 'keep' | 'hash'> {
  readonly code: string
  /** Who answered, where the issuer says so. */
  readonly iss: string | null
}

const slot = 'sealgate.console.login'

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const secret = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

export const offersOf = async (gateway: Gateway): Promise<readonly Offer[]> =>
  (await gateway.ask<{ readonly logins: readonly Offer[] }>('GET', '/console/logins')).logins

/** The address that begins a login, once the tab remembers its secrets. */
export const departureTo = async (
  { name, authorize }: Offer,
  keep: boolean,
  hash: string,
  storage: Storage,
): Promise<string> => {
  const departure: Departure = { name, state: secret(), nonce: secret(), verifier: secret(), keep, hash }
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(departure.verifier))
  storage.setItem(slot, JSON.stringify(departure))
  const address = new URL(authorize)
  const { searchParams: query } = address
  query.set('state', departure.state)
  query.set('nonce', departure.nonce)
  query.set('code_challenge', base64url(new Uint8Array(challenge)))
  query.set('code_challenge_method', 'S256')
  return address.href
}

/** The answer of an issuer to a login that this tab began. Throws Refused for every other answer; the tab forgets the login. */
export const returned = (query: URLSearchParams, storage: Storage): Return => {
  const kept = storage.getItem(slot)
  storage.removeItem(slot)
  const departure = kept === null ? null : (JSON.parse(kept) as Departure)
  if (departure === null || query.get('state') !== departure.state)
    throw new Refused(401, 'This tab has not begun that login')
  const code = query.get('code')
  if (code === null) throw new Refused(401, 'The issuer has not let the reader in')
  const { name, nonce, verifier, keep, hash } = departure
  return { name, nonce, verifier, keep, hash, code, iss: query.get('iss') }
}

/** Throws Refused. */
export const exchanged = async (gateway: Gateway, { name, code, verifier, nonce, iss }: Return): Promise<Pass> => {
  const proof = { code, verifier, nonce, ...(iss !== null && { iss }) }
  return passOf(await gateway.ask<Lent>('POST', `/console/logins/${encodeURIComponent(name)}`, proof))
}

/** Throws Refused. */
export const redeemed = async (gateway: Gateway, link: string): Promise<Pass> =>
  passOf(await gateway.ask<Lent>('POST', '/console/session', { link }))

/** A session for the key that the gateway is asked with. Throws Refused. */
export const heldBy = async (gateway: Gateway): Promise<Pass> =>
  passOf(await gateway.ask<Lent>('POST', '/console/session/key'))

/** The session of this browser again. Throws Refused without one. */
export const renewed = async (gateway: Gateway): Promise<Pass> =>
  passOf(await gateway.ask<Lent>('POST', '/console/session/renewal'))

interface Lent {
  readonly credential: string
  readonly expires_at: number
}

/** What the gateway lends is not over: a clock of the reader that says so is ahead, and the gateway alone tells the end. */
const passOf = ({ credential, expires_at: end }: Lent): Pass => ({ credential, until: end > Date.now() ? end : null })
