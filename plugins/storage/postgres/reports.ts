import { Overdue, Unavailable } from '../../../core/errors.ts'
import type { Kind, PageQuery, Reports, Row, Sum } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'
import { decodeJson, decodeText, encodeText, sortKey } from './encoding.ts'
import type { Pool } from './pool.ts'
import { statement } from './statement.ts'

/** What PostgreSQL says of a statement that it ended after its time. */
const cancelled = '57014'

interface Named {
  readonly name: string
  readonly sums: readonly number[]
}

const sumOf = ({ name, sums }: Named): Sum => ({ name: decodeText(name), sums })

const isOverdue = (fault: unknown): boolean =>
  fault instanceof Unavailable &&
  ((fault.cause as { readonly code?: unknown } | undefined)?.code === cancelled ||
    /timeout/i.test(String((fault.cause as Error | undefined)?.message)))

const timed = <T>(work: Promise<T>): Promise<T> =>
  work.catch((fault: unknown) => {
    throw isOverdue(fault) ? new Overdue({ cause: fault }) : fault
  })

/** Sums of numbers by the text in a field, from the rows behind `rest`. */
const groupedSums = (rest: string, by: string, fields: readonly string[]): string => {
  const columns = fields.map((name) => `"${storedName(name)}" float8`).join(', ')
  const sums = fields.map((name) => `coalesce(sum("${name}"), 0)`).join(', ')
  const named = `select coalesce(data ->> '${storedName(by)}', '') collate "C" as name, data ${rest}`
  return `select name, array[${sums}] as sums from (${named}) as named, json_to_record(data) as it(${columns})`
}

/** Sums of lists by their name in a field, from the rows behind `rest`. */
const talliedSums = (rest: string, field: string, length: number): string => {
  const lists = `select data -> '${storedName(field)}' as lists ${rest}`
  const sums = Array.from({ length }, (_, at) => `coalesce(sum((value ->> ${at})::float8), 0)`).join(', ')
  return `select key collate "C" as name, array[${sums}] as sums from (${lists}) as found, json_each(lists)`
}

/** Reports in statements of a pool of their own. `prepare` gives the collation of searches. */
export const postgresReports = (
  pool: Pool,
  schema: string,
  prepare: <T>(kind: Kind<T>) => Promise<string>,
  list: Reports['list'],
): Reports => {
  const run = async <R extends object>(sql: string, values: Parameters<Pool['run']>[1]): Promise<readonly R[]> =>
    (await timed(pool.run<R>(sql, values))).rows

  return {
    list: (kind, query) => timed(list(kind, query)),

    async page<T>(kind: Kind<T>, { by, behind, limit, ...query }: PageQuery<T>): Promise<readonly Row<T>[]> {
      const collation = await prepare(kind)
      const { values, value, from, field } = statement(schema)
      const rest = from(kind, query, collation)
      const key = behind && sortKey(behind.value)
      const later = behind
        ? ` and ${field(by)} <= ${value(key!)} and (${field(by)} < ${value(key!)} or id < ${value(encodeText(behind.id))})`
        : ''
      const order = `order by ${field(by)} desc nulls last, id desc limit ${value(limit)}`
      const found = await run<{ id: string; data: string }>(
        `select id, data::text as data ${rest}${later} ${order}`,
        values,
      )
      return found.map(({ id, data }) => ({ id: decodeText(id), row: decodeJson<T>(data) }))
    },

    async group(kind, query, by, fields, { after, limit }) {
      const collation = await prepare(kind)
      const { values, value, from } = statement(schema)
      const sql = groupedSums(from(kind, query, collation), by, fields)
      const later = after === undefined ? '' : ` having name > ${value(encodeText(after))}`
      return (await run<Named>(`${sql} group by name${later} order by name limit ${value(limit)}`, values)).map(sumOf)
    },

    async tally(kind, query, field, length, { after, limit }) {
      const collation = await prepare(kind)
      const { values, value, from } = statement(schema)
      const sql = talliedSums(from(kind, query, collation), field, length)
      const later = after === undefined ? '' : ` where key collate "C" > ${value(encodeText(after))}`
      return (await run<Named>(`${sql}${later} group by 1 order by 1 limit ${value(limit)}`, values)).map(sumOf)
    },
  }
}
