import { type Gateway, type Query, pathOf } from './gateway.ts'
import type { Sum } from './sums.ts'

/** A page of what the gateway adds up. */
export interface SumsAnswer {
  /** The name is null for use without a team, and the like. */
  readonly sums: readonly (Sum & { readonly name: string | null })[]
  readonly next: string | null
}

/** Sums in one answer of the gateway. */
export const mostSums = 1_000

export const sumsPath = (query: Query): string => pathOf('/admin/usage/sums', { ...query, limit: mostSums })

/** What the gateway adds up, of all pages: rows of usage may be more than the console reads. */
export const allSums = async (gateway: Gateway, query: Query): Promise<SumsAnswer['sums']> => {
  const all: SumsAnswer['sums'][number][] = []
  for (let after: string | null = ''; after !== null;) {
    const answer: SumsAnswer = await gateway.ask('GET', sumsPath({ ...query, after }))
    all.push(...answer.sums)
    after = answer.next
  }
  return all
}
