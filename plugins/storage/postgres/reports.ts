import { Overdue, Unavailable } from '../../../core/errors.ts'
import type { Kind, Reports, Sum, SumGroup } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'
import { decodeText, encodeText } from './encoding.ts'
import { asUnavailable, type Pool } from './pool.ts'
import { statement, type Value } from './statement.ts'

/** What PostgreSQL says of a statement that it ended after its time. */
const cancelled = '57014'

/** A sum under the text in the field `within` and the text in the field of this number. */
interface Grouped extends Sum {
  readonly within: string
  readonly nth: number
}

const sumOf = ({ name, sums }: Sum): Sum => ({ name: decodeText(name), sums })

/** The server ends a late statement with a code. The driver's own limit has only a message. */
const isOverdue = (fault: unknown): boolean =>
  fault instanceof Unavailable &&
  ((fault.cause as { readonly code?: unknown } | undefined)?.code === cancelled ||
    /timeout/i.test(String((fault.cause as Error | undefined)?.message)))

/** Rejects with Overdue after the time limit; all other faults pass unchanged. */
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

/** Sums of numbers by the text in `within` and the text in each of `by`, from the rows behind `rest`. */
const sumsWithin = (rest: string, within: string, by: readonly string[], fields: readonly string[]): string => {
  const text = (name: string) => `coalesce(data ->> '${storedName(name)}', '')`
  const columns = fields.map((name) => `"${storedName(name)}" float8`).join(', ')
  const sums = fields.map((name) => `coalesce(sum("${name}"), 0)`).join(', ')
  const names = by.map((name, nth) => `(${nth}, ${text(name)})`).join(', ')
  const named = `select ${text(within)} collate "C" as within, data ${rest}`
  return `select within, nth, name collate "C" as name, array[${sums}] as sums
    from (${named}) as named, json_to_record(data) as it(${columns}), lateral (values ${names}) as names(nth, name)
    group by 1, 2, 3`
}

/** The groups of sums that stand in the order of `within` and of the fields `by`. */
const groupsOf = (found: readonly Grouped[], by: readonly string[]): readonly SumGroup[] => {
  const groups = new Map<string, { readonly within: string; readonly by: string; readonly sums: Sum[] }>()
  for (const row of found) {
    const id = `${row.nth}/${row.within}`
    let group = groups.get(id)
    if (group === undefined)
      groups.set(id, (group = { within: decodeText(row.within), by: by[row.nth] ?? '', sums: [] }))
    group.sums.push(sumOf(row))
  }
  return [...groups.values()]
}

/**
 * Sums of lists by their name in a field, from the rows behind `rest`. A list of JSON is read once, as an array: without
 * the offset PostgreSQL would read it anew for each sum.
 */
const talliedSums = (rest: string, field: string, length: number): string => {
  const lists = `select data -> '${storedName(field)}' as lists ${rest}`
  const read = `select key, translate(value::text, '[]', '{}')::float8[] as list from (${lists}) as found, json_each(lists) offset 0`
  const sums = Array.from({ length }, (_, at) => `coalesce(sum(list[${at + 1}]), 0)`).join(', ')
  return `select key collate "C" as name, array[${sums}] as sums from (${read}) as read`
}

/** Reports in statements of a pool of their own. `prepare` gives the collation of searches. */
export const postgresReports = (
  pool: Pool,
  schema: string,
  prepare: <T>(kind: Kind<T>) => Promise<string>,
  list: Reports['list'],
): Reports => {
  const run = async <R extends object>(sql: string, values: readonly Value[]): Promise<readonly R[]> => {
    const report = pool.transaction(async (client) => {
      // A report takes one processor of the database at most; calls have the others.
      await client.query('set local max_parallel_workers_per_gather = 0')
      return client.query<R>(sql, [...values])
    })
    return (await timed(report.catch(asUnavailable))).rows
  }

  return {
    list: (kind, query) => timed(list(kind, query)),

    async group(kind, query, by, fields, { after, limit }) {
      const collation = await prepare(kind)
      const { values, value, from } = statement(schema)
      const sql = groupedSums(from(kind, query, collation), by, fields)
      const later = after === undefined ? '' : ` having name > ${value(encodeText(after))}`
      return (await run<Sum>(`${sql} group by name${later} order by name limit ${value(limit)}`, values)).map(sumOf)
    },

    async groups(kind, query, within, by, fields, { after, limit }) {
      const collation = await prepare(kind)
      const { values, value, from } = statement(schema)
      const summed = sumsWithin(from(kind, query, collation), within, by, fields)
      const later = after === undefined ? '' : ` where within > ${value(encodeText(after))}`
      const begun = `select within, sum(count(*)) over (order by within) - count(*) as before from summed${later} group by within`
      const sql = `with summed as (${summed}), begun as (${begun})
        select within, nth, name, sums from summed join begun using (within) where before < ${value(limit)}
        order by within, nth, name`
      return groupsOf(await run<Grouped>(sql, values), by)
    },

    async tally(kind, query, field, length, { after, limit }) {
      const collation = await prepare(kind)
      const { values, value, from } = statement(schema)
      const sql = talliedSums(from(kind, query, collation), field, length)
      const later = after === undefined ? '' : ` where key collate "C" > ${value(encodeText(after))}`
      return (await run<Sum>(`${sql}${later} group by 1 order by 1 limit ${value(limit)}`, values)).map(sumOf)
    },
  }
}
