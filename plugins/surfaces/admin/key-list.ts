import { type KeyRow, type StoredKey, keyOf, keys } from '../../../core/access/key-row.ts'
import type { MetadataStore, Query, Row } from '../../../core/ports/metadata-store.ts'
import { reportsOf } from '../../usage/listed-reports.ts'

/** What became of a key. */
export type KeyState = 'active' | 'expired' | 'revoked'

/** The fields that order a list of keys. */
export type KeyOrder = 'created_at' | 'name' | 'team' | 'expires_at'

/** Which keys are listed. */
export interface KeyListQuery {
  /** Null for every organisation. */
  readonly organization: string | null
  readonly team?: string | undefined
  /** A text of the name, the id, the last letters, the user or the team. */
  readonly search?: string | undefined
  readonly state?: KeyState | undefined
  readonly sort: KeyOrder
  readonly direction: 'up' | 'down'
  readonly limit: number
  readonly offset: number
}

type KeyQuery = Query<StoredKey>

/** Active keys have no end or a later one, which are two questions to a store. */
const questionsFor = (state: KeyState | undefined, where: Partial<StoredKey>, now: number): readonly KeyQuery[] => {
  const standing = { ...where, revoked_at: null }
  switch (state) {
    case undefined:
      return [{ where }]
    case 'revoked':
      return [{ where, between: { field: 'revoked_at', from: 0 } }]
    case 'expired':
      return [{ where: standing, between: { field: 'expires_at', from: 0, to: now } }]
    case 'active':
      return [
        { where: { ...standing, expires_at: null } },
        { where: standing, between: { field: 'expires_at', from: now + 1 } },
      ]
  }
}

/** In the order of a store: nothing stands before numbers and texts, and ties go by id. */
const compared = (one: Row<StoredKey>, other: Row<StoredKey>, by: KeyOrder): number => {
  const [a, b] = [one.row[by] ?? null, other.row[by] ?? null]
  if (a === b) return one.id < other.id ? -1 : 1
  if (a === null || b === null) return a === null ? -1 : 1
  return a < b ? -1 : 1
}

/** A page of keys with their number. The newest keys come from an index; every other question is a report. */
export const listedKeys = async (
  stored: MetadataStore,
  { organization, team, search, state, sort, direction, limit, offset }: KeyListQuery,
  now: number,
): Promise<{ readonly rows: readonly KeyRow[]; readonly total: number }> => {
  const descending = direction === 'down'
  const where = { ...(organization !== null && { organization }), ...(team !== undefined && { team }) }
  const questions = questionsFor(state, where, now)
  const contains = search ? { text: search, fields: ['name', 'id', 'hint', 'user', 'team'] as const } : undefined
  const isWhole = questions.length === 1
  const store = sort === 'created_at' && isWhole && contains === undefined ? stored : reportsOf(stored)
  const lists = await Promise.all(
    questions.map((question) =>
      store.list(keys, {
        ...question,
        ...(contains !== undefined && { contains }),
        order: { by: sort, descending },
        limit: isWhole ? limit : offset + limit,
        offset: isWhole ? offset : 0,
      }),
    ),
  )
  const total = lists.reduce((sum, list) => sum + list.total, 0)
  const rows = lists.flatMap((list) => list.rows)
  if (!isWhole) rows.sort((one, other) => (descending ? -1 : 1) * compared(one, other, sort))
  return { rows: (isWhole ? rows : rows.slice(offset, offset + limit)).map(({ row }) => keyOf(row)), total }
}
