import type { Key } from './answers.ts'
import { type Gateway, Refused } from './gateway.ts'

/** A key with its credential, which the gateway tells this once. */
export type MadeKey = Key & { readonly key: string }

export interface Wanted {
  readonly name: string
  readonly scopes: readonly string[]
  /** Null for all. */
  readonly models: readonly string[] | null
  /** Unix time in ms; null for no end. */
  readonly expires_at: number | null
}

export const createKey = (gateway: Gateway, { models, expires_at, ...wanted }: Wanted): Promise<MadeKey> =>
  // An absent field is what the maker's own key has, which may have an end.
  gateway.ask<MadeKey>('POST', '/admin/keys', {
    ...wanted,
    ...(models !== null && { models }),
    ...(expires_at !== null && { expires_at }),
  })

export interface Rotated {
  readonly made: MadeKey
  /** When the old key ends, as Unix time in ms. */
  readonly until: number
  /** Why the old key keeps its end; null when it does not. */
  readonly fault: Error | null
}

/** Makes a key like this one, and ends this one after so many ms: until then both work. */
export const rotateKey = async (gateway: Gateway, old: Key, overlap: number, now: number): Promise<Rotated> => {
  const { name, user, mode, scopes, models, addresses, limits, expires_at } = old
  const heir = { name, user, mode, scopes, models, addresses, limits, expires_at }
  const made = await gateway.ask<MadeKey>('POST', '/admin/keys', heir)
  const until = Math.min(now + overlap, expires_at ?? Infinity)
  const fault = await gateway.ask('PATCH', `/admin/keys/${encodeURIComponent(old.id)}`, { expires_at: until }).then(
    () => null,
    (error: unknown) => (error instanceof Refused ? error : new Refused(0, 'The end of the old key is unknown')),
  )
  return { made, until, fault }
}

export const revokeKey = (gateway: Gateway, id: string): Promise<unknown> =>
  gateway.ask('DELETE', `/admin/keys/${encodeURIComponent(id)}`)
