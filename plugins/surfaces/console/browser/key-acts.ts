import type { Key } from './answers.ts'
import { type Gateway, Refused } from './gateway.ts'

/** A key with its credential, which the gateway tells this once. */
export type MadeKey = Key & { readonly key: string }

export interface Wanted {
  readonly name: string
  /** Null for the team of the maker. */
  readonly team: string | null
  readonly scopes: readonly string[]
  /** Null for all. */
  readonly models: readonly string[] | null
  /** Null for all. */
  readonly addresses: readonly string[] | null
  readonly limits: Key['limits']
  /** Unix time in ms; null for no end. */
  readonly expires_at: number | null
}

export const createKey = (gateway: Gateway, { name, scopes, limits, ...wanted }: Wanted): Promise<MadeKey> => {
  // An absent field is what the maker's own key has, which may have an end.
  const given = Object.entries(wanted).filter(([, value]) => value !== null)
  const own = Object.keys(limits).length === 0 ? {} : { limits }
  return gateway.ask<MadeKey>('POST', '/admin/keys', { name, scopes, ...own, ...Object.fromEntries(given) })
}

/** What may be changed of a key that is active. */
export type Change = Pick<Key, 'name' | 'team' | 'scopes' | 'models' | 'addresses' | 'limits' | 'expires_at'>

/** Sends what differs from the key before. Throws Refused with 409 where the key has another version. */
export const changeKey = (
  gateway: Gateway,
  before: Key,
  { version, ...change }: Change & { readonly version: number },
): Promise<Key> => {
  const parts = Object.entries(change).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Change]),
  )
  const path = `/admin/keys/${encodeURIComponent(before.id)}`
  return gateway.ask<Key>('PATCH', path, { version, ...Object.fromEntries(parts) })
}

export interface Rotated {
  readonly made: MadeKey
  /** The old key as it is now. */
  readonly old: Key
  /** Why the old key keeps its end; null when it does not. */
  readonly fault: Error | null
}

/** Makes a key like this one, and ends this one after so many ms: until then both work. */
export const rotateKey = async (gateway: Gateway, old: Key, overlap: number, now: number): Promise<Rotated> => {
  const path = `/admin/keys/${encodeURIComponent(old.id)}`
  const { version, revoked_at } = await gateway.ask<Key>('GET', path)
  // The new key has the powers that the page shows, and no others.
  if (version !== old.version || revoked_at !== null)
    throw new Refused(409, 'Another operator changed this key: no key is made. Load the page again')
  const { name, user, team, mode, scopes, models, addresses, limits, expires_at } = old
  const heir = { name, user, mode, scopes, models, addresses, limits, expires_at, ...(team !== null && { team }) }
  const made = await gateway.ask<MadeKey>('POST', '/admin/keys', heir)
  const until = Math.min(now + overlap, expires_at ?? Infinity)
  return gateway.ask<Key>('PATCH', path, { expires_at: until }).then(
    (ended) => ({ made, old: ended, fault: null }),
    (error: unknown) => {
      const fault = error instanceof Refused ? error : new Refused(0, 'The end of the old key is unknown')
      return { made, old, fault }
    },
  )
}

export const revokeKey = (gateway: Gateway, id: string): Promise<unknown> =>
  gateway.ask('DELETE', `/admin/keys/${encodeURIComponent(id)}`)
