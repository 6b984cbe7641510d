import { isIP } from 'node:net'
import { one } from '../container.ts'
import { BadRequest, Conflict } from '../errors.ts'
import { uuid7 } from '../uuid7.ts'
import { plugin } from '../plugin.ts'
import { type Holder, KeptTeams } from '../ports/credentials.ts'
import { Clock, Random } from '../ports/platform.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { Settings } from '../settings.ts'
import { blockListOf } from './addresses.ts'
import { type Caller, type Maker, scopes } from './caller.ts'
import { credentialHash, newCredential, modeOf } from './credential.ts'
import { type KeyRow, keyOf, keys, lives } from './key-row.ts'
import { type RegisterAct, keyRegister } from './register.ts'

/**
 * What a maker may say of a new key. An absent scope list means every scope, an absent model list all models.
 */
export type NewKey = Partial<Omit<KeyRow, 'id' | 'hint' | 'created_at' | 'revoked_at' | 'version'>>

/** What may be changed of a key that is there. */
export type KeyChange = Partial<
  Pick<KeyRow, 'name' | 'team' | 'scopes' | 'models' | 'addresses' | 'limits' | 'expires_at'>
>

/** A change that depends on the key as it is when the change is written. */
export type Decide = (key: KeyRow) => Pick<RegisterAct, 'leaves'> & { readonly change: KeyChange }

/** Keys of callers. Every method rejects as the store does when the store is out of reach. */
export interface Keyring {
  /** Null for every kind of bad key. A key that was revoked anywhere is refused within 5 seconds. */
  find(credential: string): Promise<Holder | null>
  /** The same at once, of a key that is in memory; null for any other. */
  recall(credential: string): Holder | null
  /** The same by the hash under which a key is stored, for what stands in the place of that key. */
  held(hash: string): Promise<Holder | null>
  /** The credential is in this answer and nowhere else. With `credential`, that one is taken instead of a new one. */
  create(key: NewKey, credential?: string): Promise<{ readonly credential: string; readonly row: KeyRow }>
  list(organization: string | null, limit: number, offset: number): Promise<{ rows: readonly KeyRow[]; total: number }>
  /** Null when the organisation has no such key, as in all of these; a null organisation stands for every one. */
  get(id: string, organization: string | null): Promise<KeyRow | null>
  /** Counts everywhere within 5 seconds. Throws BadRequest for a key that was revoked or has expired. */
  change(id: string, organization: string | null, change: KeyChange | Decide): Promise<KeyRow | null>
  /** False when the organisation has no such key. Twice is fine. */
  revoke(id: string, organization: string | null): Promise<boolean>
}

/** The port of the keyring. */
export const Keyring = one<Keyring>('Keyring')

/** Ms that a key is used as it was read. A revocation elsewhere counts after this time at the latest. */
const freshMs = 5_000
/**
 * Keys that stay in memory. When they are full all are dropped at once, and live ones come back with their
 * next request.
 */
const remembered = 10_000
/** Each maker costs a read of the store whenever its key is read. */
const mostMakers = 8

/** Keys in the store. Requests with the same key at once share one read. */
export const keyring = plugin({
  port: Keyring,
  name: 'keyring',
  needs: { rows: MetadataStore, clock: Clock, random: Random, settings: Settings, teams: KeptTeams },
  create: ({ rows, clock, random, settings, teams }): Keyring => {
    const testKeys = settings.testKeys ?? settings.env === 'development'
    const known = new Map<string, { readonly holder: Holder; readonly until: number; readonly expires: number }>()
    const underWay = new Map<string, Promise<Holder | null>>()
    const { get, act } = keyRegister(rows, clock)

    /** Its limits as they are now; the configured ones for a maker whose row was taken out of the store. */
    const makerOf = async (key: string): Promise<Maker> => ({ key, limits: (await get(key, null))?.limits ?? {} })

    const look = async (hash: string, isKey: boolean): Promise<Holder | null> => {
      // Before it is read: it may be revoked while it is on its way here.
      const until = clock.now() + freshMs
      const found = await rows.get(keys, hash)
      const row = found && keyOf(found)
      if (row === null || !isKey || !lives(row, clock.now())) return null
      if (row.mode === 'test' && !testKeys) return null
      const caller = await inTeam(callerOf(row, await Promise.all(row.makers.map(makerOf))), teams)
      if (caller === null) return null
      const holder = holds(row, caller)
      if (known.size >= remembered) known.clear()
      known.set(hash, { holder, until, expires: row.expires_at ?? Infinity })
      return holder
    }

    const inMemory = (hash: string): Holder | null => {
      const seen = known.get(hash)
      if (seen === undefined) return null
      const now = clock.now()
      // A clock that was set back keeps nobody in.
      if (now < seen.until && seen.until - now <= freshMs && now < seen.expires) return seen.holder
      known.delete(hash)
      return null
    }

    const recalled = async (hash: string, isKey: boolean): Promise<Holder | null> => {
      const seen = inMemory(hash)
      if (seen !== null) return seen
      const asking = underWay.get(hash)
      if (asking !== undefined) return asking
      const answer = look(hash, isKey).finally(() => underWay.delete(hash))
      underWay.set(hash, answer)
      return answer
    }

    return {
      find: async (credential) => recalled(credentialHash(credential), modeOf(credential) !== null),
      recall: (credential) => inMemory(credentialHash(credential)),
      held: (hash) => recalled(hash, true),

      async create(key, credential = newCredential(key.mode ?? 'live', random)) {
        const mode = modeOf(credential)
        if (mode === null) throw new BadRequest('A key is sk_live_ or sk_test_ and 32 random bytes in base58')
        const row: Omit<KeyRow, 'version'> = {
          id: `key_${uuid7(clock, random)}`,
          name: key.name ?? '',
          organization: key.organization ?? 'default',
          user: key.user ?? 'default',
          team: key.team ?? null,
          mode,
          scopes: key.scopes ?? scopes,
          models: key.models ?? null,
          limits: key.limits ?? {},
          addresses: key.addresses ?? null,
          makers: key.makers ?? [],
          hint: credential.slice(-4),
          created_at: clock.now(),
          expires_at: key.expires_at ?? null,
          revoked_at: null,
        }
        blockListOf(row.addresses)
        if (row.makers.length > mostMakers) throw new BadRequest('A line of makers has at most eight keys')
        if (!(await rows.create(keys, credentialHash(credential), row))) throw new Conflict('There is such a key')
        return { credential, row: { ...row, version: 0 } }
      },

      async list(organization, limit, offset) {
        const found = await rows.list(keys, {
          where: { ...(organization !== null && { organization }) },
          order: { by: 'created_at', descending: true },
          limit,
          offset,
        })
        return { rows: found.rows.map(({ row }) => keyOf(row)), total: found.total }
      },

      get,

      async change(id, organization, change) {
        const done = await act(id, organization, (key) => {
          if (!lives(key, clock.now())) throw new BadRequest('The key was revoked or has expired')
          const step = typeof change === 'function' ? change(key) : { change, leaves: null }
          if (step.change.addresses !== undefined) blockListOf(step.change.addresses)
          return step
        })
        if (done === null) return null
        known.delete(done.id)
        return done.row
      },

      async revoke(id, organization) {
        const done = await act(id, organization, (key) =>
          key.revoked_at === null ? { change: { revoked_at: clock.now() }, leaves: null } : null,
        )
        if (done === null) return false
        known.delete(done.id)
        return true
      },
    }
  },
})

/** The caller with the kept budgets of its team; null where that team is closed. Rejects as the store does. */
export const inTeam = async (caller: Caller, kept: readonly KeptTeams[]): Promise<Caller | null> => {
  const { organization, team } = caller
  if (team === undefined) return caller
  for (const { find } of kept) {
    const found = await find(organization, team)
    if (found !== null) return found.isClosed ? null : { ...caller, teamBudgets: found.budgets }
  }
  return caller
}

const callerOf = (row: KeyRow, makers: readonly Maker[]): Caller => ({
  key: row.id,
  organization: row.organization,
  user: row.user,
  ...(row.team !== null && { team: row.team }),
  scopes: row.scopes,
  models: row.models,
  limits: row.limits,
  ...(makers.length > 0 && { makers }),
})

const holds = (row: KeyRow, caller: Caller): Holder => {
  const addresses = blockListOf(row.addresses)
  return {
    caller,
    admits: (address) =>
      addresses === null || (address !== null && addresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')),
  }
}
