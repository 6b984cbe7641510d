import { kind } from '../ports/metadata-store.ts'
import type { Limits } from '../settings.ts'
import { type Scope, scopes } from './caller.ts'
import type { Mode } from './credential.ts'

/** A key as it is stored, under the hash of the credential. */
export interface KeyRow {
  readonly id: string
  readonly name: string
  readonly organization: string
  readonly user: string
  /** A group of keys of the organisation with budgets of its own; null for none. */
  readonly team: string | null
  readonly mode: Mode
  readonly scopes: readonly Scope[]
  readonly models: readonly string[] | null
  readonly limits: Partial<Limits>
  /** Addresses and CIDR ranges that may use it; null for all. */
  readonly addresses: readonly string[] | null
  /** Ids of the keys that it descends from; the last one made it. Empty for a key that the command line made. */
  readonly makers: readonly string[]
  /** The last four characters, for people who look for it. */
  readonly hint: string
  /** All three times are Unix times in ms. Null means never. */
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** How often the row was written since the key was made. */
  readonly version: number
}

/** A row of 1.0.0 has neither makers nor a team nor changes. */
export type StoredKey = Omit<KeyRow, 'makers' | 'team' | 'version'> & {
  readonly team?: string | null
  readonly makers?: readonly string[]
  /** How often the key was changed; a change is written only over the count that its writer read. */
  readonly changes?: number | null
}

/** Keys by the hash of their credential. The index on `id` finds a key for people who know no credential. */
export const keys = kind<StoredKey>('key', [
  ['id'],
  ['organization', 'created_at'],
  ['organization', 'team', 'created_at'],
])

const younger: readonly Scope[] = ['api_key.delegate']

/** The key of a stored row. A key of 1.0.0 with every scope of 1.0.0 also has all later scopes. */
export const keyOf = ({ changes, ...stored }: StoredKey): KeyRow => {
  const row = { ...stored, team: stored.team ?? null, version: changes ?? 0 }
  if (row.makers !== undefined) return { ...row, makers: row.makers }
  const all = scopes.every((scope) => younger.includes(scope) || row.scopes.includes(scope))
  return { ...row, scopes: all ? scopes : row.scopes, makers: [] }
}

/** Whether the key was neither revoked nor has expired. */
export const lives = ({ revoked_at, expires_at }: KeyRow, now: number): boolean =>
  revoked_at === null && (expires_at === null || expires_at > now)
