import { Forbidden, Unavailable } from '../errors.ts'
import type { Clock } from '../ports/platform.ts'
import type { MetadataStore, Row } from '../ports/metadata-store.ts'
import { type KeyRow, type StoredKey, keyOf, keys, lives } from './key-row.ts'

/** What an act does to a key, and what it needs. */
export interface RegisterAct {
  readonly change: Partial<StoredKey>
  /** The act is refused unless it leaves another living key of the organisation that is like this. */
  readonly leaves: ((other: KeyRow) => boolean) | null
}

/** Attempts of one act before Unavailable: other writers changed the key each time. */
const mostTries = 8
const page = 100
/** So many of the oldest keys of an organisation are looked at; its administrators are among them. */
const mostOthers = 1_000

/** Another living key of the organisation that is like this; null among the oldest keys where there is none. */
const another = async (
  rows: MetadataStore,
  now: () => number,
  { id, organization }: KeyRow,
  like: (other: KeyRow) => boolean,
): Promise<Row<StoredKey> | null> => {
  const query = { where: { organization, revoked_at: null }, order: { by: 'created_at' }, limit: page } as const
  for (let offset = 0; offset < mostOthers; offset += page) {
    const found = await rows.list(keys, { ...query, offset, countTo: offset + page + 1 })
    const time = now()
    const double = found.rows.find(({ row }) => row.id !== id && lives(keyOf(row), time) && like(keyOf(row)))
    if (double !== undefined) return double
    if (found.rows.length < page) return null
  }
  return null
}

/** The keys in the store. Of two acts at once that rest on each other's keys, at most one succeeds. */
export const keyRegister = (rows: MetadataStore, clock: Clock) => {
  const stored = async (id: string, organization: string | null): Promise<Row<StoredKey> | null> => {
    // The id alone: a store may choose the index of the organisation, which has all its keys.
    const [found] = (await rows.list(keys, { where: { id }, limit: 1, countTo: 1 })).rows
    return found !== undefined && (organization ?? found.row.organization) === found.row.organization ? found : null
  }

  /** Null when the key was changed or revoked since it was read. */
  const write = ({ id, row }: Row<StoredKey>, change: Partial<StoredKey>): Promise<StoredKey | null> => {
    const { changes = null } = row
    return rows.update(keys, id, { ...change, changes: (changes ?? 0) + 1 }, { revoked_at: null, changes })
  }

  return {
    get: async (id: string, organization: string | null): Promise<KeyRow | null> => {
      const found = await stored(id, organization)
      return found && keyOf(found.row)
    },

    /**
     * Null when the organisation has no such key. `decide` is asked again when the key changed meanwhile, and gives null
     * where nothing is to be done.
     */
    async act(
      id: string,
      organization: string | null,
      decide: (key: KeyRow) => RegisterAct | null,
    ): Promise<Row<KeyRow> | null> {
      for (let tries = 0; tries < mostTries; tries++) {
        const found = await stored(id, organization)
        if (found === null) return null
        const key = keyOf(found.row)
        const act = decide(key)
        if (act === null) return { id: found.id, row: key }
        if (act.leaves !== null) {
          const other = await another(rows, clock.now, key, act.leaves)
          if (other === null) throw new Forbidden('The organisation has no other key that administers as much')
          // The count of the other key tells an act on it that this one rests on it.
          if ((await write(other, {})) === null) continue
        }
        const row = await write(found, act.change)
        if (row !== null) return { id: found.id, row: keyOf(row) }
      }
      throw new Unavailable()
    },
  }
}
