import { plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query } from '../../core/ports/metadata-store.ts'

type RowFields = Record<string, unknown>

/**
 * Rows pass through JSON as in a real store: callers share no object with it, and undefined fields vanish.
 */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** Null equals absent, as the port promises for `where`. */
const isSameJson = (a: unknown, b: unknown) => a === b || JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

const holdsFields = (row: RowFields, fields: object = {}) =>
  Object.entries(fields).every(([name, value]) => isSameJson(row[name], value))

const rank = (value: unknown) => (value == null ? 0 : typeof value === 'string' ? 2 : 1)

/** Orders null before numbers before text. */
const compare = (a: unknown, b: unknown): number => {
  if (a === b || a == null || b == null) return rank(a) - rank(b)
  return rank(a) - rank(b) || (a < b ? -1 : 1)
}

/** Both ends are inclusive; a row without the field never matches. */
const isBetween = (value: unknown, from: unknown, to: unknown) =>
  value !== null &&
  value !== undefined &&
  (from === undefined || compare(value, from) >= 0) &&
  (to === undefined || compare(value, to) <= 0)

const mentions = (row: RowFields, text: string, fields: readonly string[]) =>
  fields.some((name) => {
    const value = row[name]
    return typeof value === 'string' && value.toLowerCase().includes(text.toLowerCase())
  })

const matches = (id: string, row: RowFields, { where, between, contains, prefix, after }: Query<RowFields>) =>
  (prefix === undefined || id.startsWith(prefix)) &&
  (after === undefined || compare(id, after) > 0) &&
  holdsFields(row, where) &&
  (!between || isBetween(row[between.field], between.from, between.to)) &&
  (!contains || mentions(row, contains.text, contains.fields))

/** Every listing examines all rows of its kind. */
export default plugin({
  port: MetadataStore,
  name: 'memory',
  create: (): MetadataStore => {
    const kinds = new Map<string, Map<string, RowFields>>()

    const rowsOf = ({ name }: Pick<Kind<unknown>, 'name'>): Map<string, RowFields> => {
      let rows = kinds.get(name)
      if (!rows) kinds.set(name, (rows = new Map()))
      return rows
    }

    return {
      async get<T>(kind: Kind<T>, id: string) {
        const row = rowsOf(kind).get(id)
        return row ? copy(row as T) : null
      },
      async create(kind, id, row) {
        const rows = rowsOf(kind)
        if (rows.has(id)) return false
        rows.set(id, copy(row as RowFields))
        return true
      },
      async update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>) {
        const rows = rowsOf(kind)
        const row = rows.get(id)
        if (!row || !holdsFields(row, when)) return null
        const changed = { ...row, ...copy(change) }
        rows.set(id, changed)
        return copy(changed as T)
      },
      async add(kind, id, deltas, when) {
        const rows = rowsOf(kind)
        const known = rows.get(id)
        if (when && !(known && holdsFields(known, when))) return null
        const row = known ?? {}
        const sum = (name: string, delta: number) => (Object.hasOwn(row, name) ? Number(row[name]) : 0) + delta
        const sums = Object.fromEntries(Object.entries(deltas).map(([name, delta]) => [name, sum(name, delta)]))
        rows.set(id, { ...row, ...sums })
        return sums
      },
      async remove(kind, id, when) {
        const rows = rowsOf(kind)
        const row = rows.get(id)
        return row !== undefined && holdsFields(row, when) && rows.delete(id)
      },
      async list<T>(kind: Kind<T>, query: Query<T>) {
        const { order, limit = Infinity, offset = 0 } = query
        const way = order?.descending ? -1 : 1
        const found = [...rowsOf(kind)]
          .filter(([id, row]) => matches(id, row, query as Query<RowFields>))
          .sort(([a, x], [b, y]) => way * ((order ? compare(x[order.by], y[order.by]) : 0) || compare(a, b)))
        return {
          rows: found.slice(offset, offset + limit).map(([id, row]) => ({ id, row: copy(row as T) })),
          total: found.length,
        }
      },
    }
  },
})
