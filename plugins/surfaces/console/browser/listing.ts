import type { Paged } from './answers.ts'
import { type Gateway, type Query, pathOf } from './gateway.ts'

export interface Listing<T> {
  readonly rows: readonly T[]
  /** Of the gateway; more than `rows` where the list is longer than the console reads. */
  readonly total: number
}

export const isWhole = ({ rows, total }: Listing<unknown>): boolean => rows.length >= total

const pageSize = 100
/** Pages of a long list that are under way at once. */
const atOnce = 5

/** The first rows of a list that comes in pages of 100; 2,000 rows unless told otherwise. */
export const wholeList = async <T>(
  gateway: Gateway,
  path: string,
  field: string,
  query: Query = {},
  mostPages = 20,
): Promise<Listing<T>> => {
  const pageOf = async (page: number): Promise<Listing<T>> => {
    const address = pathOf(path, { ...query, limit: pageSize, offset: page * pageSize })
    const answer = await gateway.ask<Readonly<Record<string, unknown>>>('GET', address)
    return { rows: answer[field] as readonly T[], total: (answer['pagination'] as Paged).total }
  }
  const { rows: first, total } = await pageOf(0)
  const pages = Math.min(mostPages, Math.ceil(total / pageSize))
  const rows: T[] = [...first]
  for (let page = 1; page < pages; page += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, pages - page) }, (_, more) => pageOf(page + more))
    for (const part of await Promise.all(some)) rows.push(...part.rows)
  }
  return { rows, total }
}
