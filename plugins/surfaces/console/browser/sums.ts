import type { Usage } from './answers.ts'
import { type Child, el } from './element.ts'
import { cost, costWords, count } from './format.ts'
import { tile } from './parts.ts'

const hatched = (words: string): HTMLElement => el('span', { class: 'unpriced' }, words)

/** What is known of a cost, without the calls beside it that have no price. */
export const knownCost = ({ cost: sum, unpriced, requests }: Pick<Sum, 'cost' | 'unpriced' | 'requests'>): Child => {
  if (requests === 0) return '–'
  if (sum === null) return hatched(unpriced > 0 ? 'unpriced' : 'errors alone')
  return cost(sum)
}

const more = ({ cost: sum, unpriced }: Sum): Child =>
  sum !== null && unpriced > 0 && hatched(`+ ${count(unpriced)} unpriced`)

/** A cost; what has no price is hatched and never 0. */
export const shownCost = (sum: Sum): Child => [knownCost(sum), ' ', more(sum)]

export const costTile = (name: string, sum: Sum): HTMLElement =>
  tile(costWords(name), knownCost(sum), more(sum) || 'of calls with a price')

export interface Sum {
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  readonly unanswered: number
  /** Requests whose price is unknown. */
  readonly unpriced: number
  /** Of the priced requests; null where requests were answered and none of them has a price. */
  readonly cost: number | null
}

export const nothing: Sum = {
  ...{ requests: 0, input: 0, output: 0, cached: 0, reasoning: 0 },
  ...{ unanswered: 0, unpriced: 0, cost: null },
}

const added = (sum: Sum, row: Sum): Sum => ({
  requests: sum.requests + row.requests,
  input: sum.input + row.input,
  output: sum.output + row.output,
  cached: sum.cached + row.cached,
  reasoning: sum.reasoning + row.reasoning,
  unanswered: sum.unanswered + row.unanswered,
  unpriced: sum.unpriced + row.unpriced,
  cost: row.cost === null ? sum.cost : (sum.cost ?? 0) + row.cost,
})

export const sumOf = (rows: readonly Sum[]): Sum => rows.reduce(added, nothing)

/** Sums by what `of` names, in the order of the first row of each. */
export const sumsBy = (rows: readonly Usage[], of: (row: Usage) => string): ReadonlyMap<string, Sum> => {
  const sums = new Map<string, Sum>()
  for (const row of rows) sums.set(of(row), added(sums.get(of(row)) ?? nothing, row))
  return sums
}

/** Days that are shown beside each other. */
const mostDays = 400

/** Every day from the first to the last, in UTC, both of them included; the last ones of a longer span. */
export const daysBetween = (from: string, to: string): readonly string[] => {
  const days: string[] = []
  const first = Math.max(Date.parse(from), Date.parse(to) - (mostDays - 1) * 86_400_000)
  for (let at = first; at <= Date.parse(to); at += 86_400_000) days.push(new Date(at).toISOString().slice(0, 10))
  return days
}
