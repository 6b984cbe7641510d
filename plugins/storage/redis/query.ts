import type { Query } from '../../../core/ports/metadata-store.ts'
import { encodeText, sortKey } from './encoding.ts'

/** The fields of a row, which Redis keeps as JSON without a type. */
export type RowFields = Readonly<Record<string, unknown>>
/** The states (`whole` or `building`) of indexes by their fields. Other replicas may have declared further indexes. */
export type Indexes = ReadonlyMap<string, string>

/** A range of an index, with bounds in Redis's form. */
export interface IndexRange {
  /** The index's fields, joined by commas. */
  readonly fields: string
  /** The number of fields before the id in a member. */
  readonly depth: number
  readonly first: string
  readonly last: string
  /** True when the query wants every row of the range. */
  readonly isExact: boolean
  /** True when the range has the wanted order. */
  readonly isOrdered: boolean
}

/** The lowest key of any value. */
const lowestValue = '\u0002'

/** An index without fields holds all rows by their ids. */
const namesOf = (index: string): readonly string[] => index.split(',').filter(Boolean)
/** Each key ends with U+0000, which no key contains. A shorter value therefore sorts before its continuations. */
const joined = (names: readonly string[], row: RowFields): string =>
  names.map((name) => `${sortKey(row[name])}\0`).join('')

/** A row's member of an index. */
export const memberOf = (index: string, id: string, row: RowFields): string =>
  joined(namesOf(index), row) + encodeText(id)

/** True when the row exists and each field has the wanted value. Null and absent fields are equal. */
export const holds = (row: RowFields | null, fields: object = {}): row is RowFields =>
  row !== null && Object.entries(fields).every(([name, value]) => sortKey(row[name]) === sortKey(value))

/** Both limits are inclusive. A row without the field lies outside. */
const isBetween = (value: unknown, from: unknown, to: unknown): boolean => {
  const key = sortKey(value)
  return key > sortKey(null) && key >= sortKey(from) && (to === undefined || key <= sortKey(to))
}

/** True when the query wants the row. */
export const matches = <T>(id: string, row: RowFields, query: Query<T>): boolean => {
  const { where, between, contains, prefix = '', after } = query
  const text = contains?.text.toLowerCase() ?? ''
  const mentions = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(text)
  return (
    id.startsWith(prefix) &&
    (after === undefined || encodeText(id) > encodeText(after)) &&
    holds(row, where) &&
    (between === undefined || isBetween(row[between.field], between.from, between.to)) &&
    (contains === undefined || contains.fields.some((name) => mentions(row[name])))
  )
}

/** The range over the ids of all rows, or of ids with a prefix. */
const byIds = <T>({ where = {}, between, contains, prefix, after, order }: Query<T>): IndexRange => {
  const behind = after === undefined ? '-' : `(${encodeText(after)}`
  const [first, last] = prefix ? [`[${encodeText(prefix)}`, `(${encodeText(prefix)}\u{10ffff}`] : [behind, '+']
  const isExact = Object.keys(where).length === 0 && !between && !contains && !(prefix && after)
  return { fields: '', depth: 0, first, last, isExact, isOrdered: !order }
}

/** The range of an index that a query needs, and how far the index narrows the rows. */
const rangeOf = <T>(fields: string, query: Query<T>): { readonly range: IndexRange; readonly rank: number } => {
  const { where = {}, between, contains, prefix, after, order } = query
  const wanted = Object.keys(where)
  const names = namesOf(fields)
  const unheld = names.findIndex((name) => !wanted.includes(name))
  const held = unheld < 0 ? names.length : unheld
  /** The first field without an exact condition. */
  const next = names[held]
  const start = joined(names.slice(0, held), where as RowFields)
  const limits = between && between.field === next ? between : undefined
  const lowest = limits && (limits.from === undefined ? lowestValue : sortKey(limits.from))
  const end = limits?.to === undefined ? start.slice(0, -1) : `${start}${sortKey(limits.to)}`
  const isExact = wanted.length === held && !between === !limits && !contains && !prefix && after === undefined
  const isOrdered = order ? order.by === next && held === names.length - 1 : held === names.length
  return {
    range: {
      fields,
      depth: names.length,
      first: `[${start}${lowest ?? ''}`,
      last: end ? `(${end}\u0001` : '+',
      isExact,
      isOrdered,
    },
    // A held field narrows the rows most, and a range less. An index that leaves nothing to filter or sort
    // wins.
    rank: 2 * held + (limits ? 1 : 0) + (isExact && isOrdered ? 100 : 0),
  }
}

/** The range, over all complete indexes, with the fewest rows to examine. */
export const chooseRange = <T>(query: Query<T>, indexes: Indexes): IndexRange => {
  let best = { range: byIds(query), rank: 0 }
  for (const [fields, state] of indexes) {
    if (state !== 'whole') continue
    const candidate = rangeOf(fields, query)
    if (candidate.rank > best.rank) best = candidate
  }
  return best.range
}
