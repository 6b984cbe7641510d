import { type Gateway, type Query, pathOf } from './gateway.ts'
import type { Sum } from './sums.ts'

interface NamedSum extends Sum {
  /** Null for use without a team, and the like. */
  readonly name: string | null
}

interface SumsAnswer {
  readonly sums: readonly NamedSum[]
  readonly next: string | null
}

export const sumsPath = (query: Query): string => pathOf('/admin/usage/sums', { ...query, limit: 1_000 })

/** What the gateway adds up, of all pages: rows of usage may be more than the console reads. */
export const allSums = async (gateway: Gateway, query: Query): Promise<readonly NamedSum[]> => {
  const all: NamedSum[] = []
  for (let after: string | null = ''; after !== null;) {
    const answer: SumsAnswer = await gateway.ask('GET', sumsPath({ ...query, after }))
    all.push(...answer.sums)
    after = answer.next
  }
  return all
}
