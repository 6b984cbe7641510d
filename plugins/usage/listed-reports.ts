import { setImmediate as turn } from 'node:timers/promises'
import type { Kind, MetadataStore, Query, Reports, Row } from '../../core/ports/metadata-store.ts'
import { lazy } from '../../core/plugin.ts'

const adding = lazy(() => import('../shared/row-sums.ts'))

/** Rows of one listing: few enough to leave other requests their turns between two pages. */
const pageSize = 500

async function* rowsIn<T>(rows: MetadataStore, kind: Kind<T>, query: Query<T>): AsyncGenerator<Row<T>> {
  for (let offset = 0; ; offset += pageSize) {
    const page = await rows.list(kind, { ...query, limit: pageSize, offset, countTo: offset + pageSize })
    yield* page.rows
    if (page.rows.length < pageSize) return
    await turn()
  }
}

/** The reports of a store; made from its listings where it has none. */
export const reportsOf = (rows: MetadataStore): Reports =>
  rows.reports ?? {
    list: (kind, query) => rows.list(kind, query),
    async group(kind, query, by, fields, part) {
      const sums = (await adding()).rowSums()
      for await (const { row } of rowsIn(rows, kind, query)) sums.group(row as object, by, fields)
      return sums.part(part)
    },
    async groups(kind, query, within, by, fields, part) {
      const groups = (await adding()).groupedSums(within, by, fields)
      for await (const { row } of rowsIn(rows, kind, query)) groups.add(row as object)
      return groups.part(part)
    },
    async tally(kind, query, field, length, part) {
      const sums = (await adding()).rowSums()
      for await (const { row } of rowsIn(rows, kind, query)) sums.tally(row as object, field, length)
      return sums.part(part)
    },
  }
