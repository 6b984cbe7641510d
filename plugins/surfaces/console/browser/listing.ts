import type { Paged } from './answers.ts'
import { type Gateway, type Query, pathOf } from './gateway.ts'

export interface Listing<T> {
  readonly rows: readonly T[]
  /** Of the gateway; more than `rows` where the list is longer than the console reads. */
  readonly total: number
}

const pageSize = 100

/** The first rows of a list that comes in pages of 100; 2,000 rows unless told otherwise. */
export const wholeList = async <T>(
  gateway: Gateway,
  path: string,
  field: string,
  query: Query = {},
  mostPages = 20,
): Promise<Listing<T>> => {
  const rows: T[] = []
  for (let page = 0; ; page++) {
    const asked = pathOf(path, { ...query, limit: pageSize, offset: page * pageSize })
    const answer = await gateway.ask<Readonly<Record<string, unknown>>>('GET', asked)
    rows.push(...(answer[field] as readonly T[]))
    const { total, has_more } = answer['pagination'] as Paged
    if (!has_more || page + 1 === mostPages) return { rows, total }
  }
}
