import { type SumsAnswer, sumsPath } from './all-sums.ts'
import type { Gateway } from './gateway.ts'
import { type Sum, nothing } from './sums.ts'

/** What keys used since a day. The gateway sums keys in the order of their ids; null for keys behind the last page that is read. */
export const keySums = async (
  gateway: Gateway,
  ids: readonly string[],
  from: string,
  mostPages = 3,
): Promise<ReadonlyMap<string, Sum | null>> => {
  const wanted = [...ids].sort()
  const [first = '', last = ''] = [wanted[0], wanted.at(-1)]
  const found = new Map<string, Sum>()
  let after: string | null = first.slice(0, -1)
  for (let page = 0; page < mostPages && after !== null && after < last; page++) {
    const path: string = sumsPath({ by: 'key', from, after })
    const { sums, next } = await gateway.ask<SumsAnswer>('GET', path)
    for (const sum of sums) if (sum.name !== null) found.set(sum.name, sum)
    after = next
  }
  const reached = after ?? last
  return new Map(wanted.map((id) => [id, found.get(id) ?? (id <= reached ? nothing : null)]))
}
