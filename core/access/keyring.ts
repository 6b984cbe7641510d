import { isIP } from 'node:net'
import { one } from '../container.ts'
import { BadRequest } from '../errors.ts'
import { uuid7 } from '../ids.ts'
import { plugin } from '../plugin.ts'
import { Clock, Random } from '../ports/host.ts'
import { MetadataStore, kind } from '../ports/metadata-store.ts'
import { Settings, type Limits } from '../settings.ts'
import { listed } from './addresses.ts'
import { type Caller, type Scope, scopes } from './caller.ts'
import { type Mode, digest, mint, modeOf } from './credential.ts'

/** A key as it is stored, under the hash of the credential. */
export interface KeyRow {
  readonly id: string
  readonly name: string
  readonly organization: string
  readonly user: string
  readonly mode: Mode
  readonly scopes: readonly Scope[]
  readonly models: readonly string[] | null
  readonly limits: Partial<Limits>
  /** Addresses and CIDR ranges that may use it; null for all. */
  readonly addresses: readonly string[] | null
  /** The last four characters, for people who look for it. */
  readonly hint: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

export const keys = kind<KeyRow>('key', [['id'], ['organization', 'created_at']])

export type NewKey = Partial<Omit<KeyRow, 'id' | 'hint' | 'created_at' | 'revoked_at'>>

/** What may be changed of a key that is there. */
export type KeyChange = Partial<Pick<KeyRow, 'name' | 'models' | 'addresses' | 'limits' | 'expires_at'>>

export interface Holder {
  readonly caller: Caller
  /** Whether the key may be used from there. */
  admits(address: string): boolean
}

export interface Keyring {
  /** Null for every kind of bad key. A key that was revoked anywhere is refused within 5 seconds. */
  find(credential: string): Promise<Holder | null>
  /** The credential is in this answer and nowhere else. With `credential`, that one is taken instead of a new one. */
  create(key: NewKey, credential?: string): Promise<{ readonly credential: string; readonly row: KeyRow }>
  list(organization: string | null, limit: number, offset: number): Promise<{ rows: readonly KeyRow[]; total: number }>
  /** Null when the organisation has no such key, as in all of these; a null organisation stands for every one. */
  get(id: string, organization: string | null): Promise<KeyRow | null>
  /** Counts everywhere within 5 seconds. Throws BadRequest for a key that was revoked. */
  change(id: string, organization: string | null, change: KeyChange): Promise<KeyRow | null>
  /** False when the organisation has no such key. Twice is fine. */
  revoke(id: string, organization: string | null): Promise<boolean>
}

export const Keyring = one<Keyring>('Keyring')

const fresh = 5_000
const remembered = 10_000

export const keyring = plugin({
  port: Keyring,
  name: 'keyring',
  needs: { rows: MetadataStore, clock: Clock, random: Random, settings: Settings },
  create: ({ rows, clock, random, settings }): Keyring => {
    const testKeys = settings.testKeys ?? settings.env === 'development'
    const known = new Map<string, { readonly holder: Holder; readonly until: number; readonly expires: number }>()
    const asked = new Map<string, Promise<Holder | null>>()

    const look = async (hash: string, mode: Mode | null): Promise<Holder | null> => {
      // Before it is read: it may be revoked while it is on its way here.
      const until = clock.now() + fresh
      const row = await rows.get(keys, hash)
      const now = clock.now()
      if (row === null || mode === null || row.revoked_at !== null) return null
      if (row.expires_at !== null && row.expires_at <= now) return null
      if (row.mode === 'test' && !testKeys) return null
      const holder = holds(row)
      if (known.size >= remembered) known.clear()
      known.set(hash, { holder, until, expires: row.expires_at ?? Infinity })
      return holder
    }

    const stored = async (id: string, organization: string | null) => {
      const where = { id, ...(organization !== null && { organization }) }
      return (await rows.list(keys, { where, limit: 1 })).rows[0] ?? null
    }

    return {
      async find(credential) {
        const hash = digest(credential)
        const seen = known.get(hash)
        if (seen !== undefined) {
          const now = clock.now()
          // A clock that was set back keeps nobody in.
          if (now < seen.until && seen.until - now <= fresh && now < seen.expires) return seen.holder
          known.delete(hash)
        }
        const asking = asked.get(hash)
        if (asking !== undefined) return asking
        const answer = look(hash, modeOf(credential)).finally(() => asked.delete(hash))
        asked.set(hash, answer)
        return answer
      },

      async create(key, credential = mint(key.mode ?? 'live', random)) {
        const mode = modeOf(credential)
        if (mode === null) throw new BadRequest('A key is sk_live_ or sk_test_ and 32 random bytes in base58')
        const row: KeyRow = {
          id: `key_${uuid7(clock, random)}`,
          name: key.name ?? '',
          organization: key.organization ?? 'default',
          user: key.user ?? 'default',
          mode,
          scopes: key.scopes ?? scopes,
          models: key.models ?? null,
          limits: key.limits ?? {},
          addresses: key.addresses ?? null,
          hint: credential.slice(-4),
          created_at: clock.now(),
          expires_at: key.expires_at ?? null,
          revoked_at: null,
        }
        listed(row.addresses)
        await rows.create(keys, digest(credential), row)
        return { credential, row }
      },

      async list(organization, limit, offset) {
        const found = await rows.list(keys, {
          ...(organization !== null && { where: { organization } }),
          order: { by: 'created_at', descending: true },
          limit,
          offset,
        })
        return { rows: found.rows.map(({ row }) => row), total: found.total }
      },

      get: async (id, organization) => (await stored(id, organization))?.row ?? null,

      async change(id, organization, change) {
        if (change.addresses !== undefined) listed(change.addresses)
        const found = await stored(id, organization)
        if (found === null) return null
        const row = await rows.update<KeyRow>(keys, found.id, change, { revoked_at: null })
        if (row === null) throw new BadRequest('The key was revoked')
        known.delete(found.id)
        return row
      },

      async revoke(id, organization) {
        const found = await stored(id, organization)
        if (found === null) return false
        await rows.update(keys, found.id, { revoked_at: clock.now() }, { revoked_at: null })
        known.delete(found.id)
        return true
      },
    }
  },
})

const holds = (row: KeyRow): Holder => {
  const addresses = listed(row.addresses)
  return {
    caller: {
      key: row.id,
      organization: row.organization,
      user: row.user,
      scopes: row.scopes,
      models: row.models,
      limits: row.limits,
    },
    admits: (address) => addresses === null || addresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  }
}
