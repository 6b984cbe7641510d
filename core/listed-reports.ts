import { setImmediate as turn } from 'node:timers/promises'
import type { Kind, MetadataStore, PageQuery, Query, Reports, Row } from './ports/metadata-store.ts'
import { rowSums } from './row-sums.ts'

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
    async page<T>(kind: Kind<T>, { by, behind, limit, ...rest }: PageQuery<T>) {
      const found: Row<T>[] = []
      const span = behind === undefined ? {} : { between: { ...rest.between, field: by, to: behind.value } }
      const query = { ...rest, ...span, order: { by, descending: true } }
      for await (const it of rowsIn(rows, kind, query)) {
        if (found.length >= limit) break
        const isBefore = behind !== undefined && String(it.row[by]) === behind.value && it.id >= behind.id
        if (!isBefore) found.push(it)
      }
      return found
    },
    async group(kind, query, by, fields, part) {
      const sums = rowSums()
      for await (const { row } of rowsIn(rows, kind, query)) sums.group(row as object, by, fields)
      return sums.part(part)
    },
    async tally(kind, query, field, length, part) {
      const sums = rowSums()
      for await (const { row } of rowsIn(rows, kind, query)) sums.tally(row as object, field, length)
      return sums.part(part)
    },
  }
