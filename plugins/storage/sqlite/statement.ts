import type { Kind, Query } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'

/** What a placeholder stands for. Booleans and null stand in the text of a statement. */
export type Value = string | number

/** A part of a statement, with the values of its placeholders. */
export interface Clause {
  readonly sql: string
  readonly values: readonly Value[]
}

/** A row in the table, as bytes: the driver ends the process over a text that is no UTF-8. */
export interface Stored {
  readonly idBytes: Uint8Array
  /** The row as JSON. */
  readonly dataBytes: Uint8Array
}

/** What a statement reads of a row. */
export const columns = 'cast(id as blob) as idBytes, cast(data as blob) as dataBytes'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws for bytes that a damaged file holds. */
export const idOf = (stored: Stored): string => utf8.decode(stored.idBytes)
export const rowOf = <T>(stored: Stored): T => JSON.parse(utf8.decode(stored.dataBytes)) as T

/** The primary key serves reads by id and ranges of ids. */
export const createTable =
  'create table if not exists rows (kind text not null, id text not null, data text not null, primary key (kind, id))'
/** The values are the kind and the id. */
export const selectOne = `select ${columns} from rows where kind = ? and id = ?`
/** The values are the kind, the id and the row as JSON. */
export const insert = 'insert into rows values (?, ?, ?)'

/** The place of a field in a row, in the form of SQLite's JSON functions. */
export const place = (name: string): string => `'$."${storedName(name)}"'`
const field = (name: string): string => `json_extract(data, ${place(name)})`

const equal = ([name, value]: readonly [string, unknown]): Clause => {
  if (value === null || value === undefined) return { sql: `${field(name)} is null`, values: [] }
  if (typeof value === 'string' || typeof value === 'number') return { sql: `${field(name)} = ?`, values: [value] }
  // SQLite has no booleans, and the driver accepts none.
  if (typeof value === 'boolean') return { sql: `${field(name)} = ${Number(value)}`, values: [] }
  return { sql: `data -> ${place(name)} = ?`, values: [JSON.stringify(value)] }
}

/** Conditions on fields, and further conditions, each with an `and` before it. */
export const where = (fields: object = {}, more: readonly Clause[] = []): Clause => {
  const clauses = [...Object.entries(fields).map(equal), ...more]
  return { sql: clauses.map(({ sql }) => ` and ${sql}`).join(''), values: clauses.flatMap(({ values }) => values) }
}

/** An index begins with the field of the range or of the order, and no range of ids is smaller. */
const isIndexed = <T>({ indexes }: Kind<T>, { between, order, prefix, after }: Query<T>): boolean => {
  const field = between?.field ?? order?.by
  return !prefix && after === undefined && indexes.some(([first]) => first === field)
}

/**
 * `from … where …`. The text contains the kind's name, since SQLite uses a partial index only for a constant. SQLite
 * expects ten rows of a kind, and so walks all of them in place of an index. The likelihood corrects this.
 */
export const from = <T>(kind: Kind<T>, query: Query<T>): Clause => {
  const { where: fields, between, prefix, after } = query
  const isKind = `kind = '${storedName(kind.name)}'`
  const more: Clause[] = []
  if (between?.from !== undefined) more.push({ sql: `${field(between.field)} >= ?`, values: [between.from] })
  if (between?.to !== undefined) more.push({ sql: `${field(between.field)} <= ?`, values: [between.to] })
  if (prefix) more.push({ sql: 'id >= ? and id < ?', values: [prefix, `${prefix}\u{10ffff}`] })
  if (after !== undefined) more.push({ sql: 'id > ?', values: [after] })
  const { sql, values } = where(fields, more)
  return { sql: `from rows where ${isIndexed(kind, query) ? `likelihood(${isKind}, 0.9)` : isKind}${sql}`, values }
}

/** Ties go by id in the same direction. Rows without an order go by id. */
export const orderBy = <T>({ order }: Query<T>): string => {
  const way = order?.descending ? 'desc' : 'asc'
  return order ? `order by ${field(order.by)} ${way}, id ${way}` : 'order by id'
}

/** The statements that make a kind's indexes. */
export const createIndexes = <T>({ name, indexes }: Kind<T>): readonly string[] =>
  indexes.map((fields) => {
    const parts = [...fields.map(field), 'id'].join(', ')
    return `create index if not exists "${storedName(name)}:${fields.join()}" on rows (${parts}) where kind = '${name}'`
  })
