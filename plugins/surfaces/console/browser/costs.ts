import { type Child, el } from './element.ts'
import { cost, costWords, count } from './format.ts'
import { tile } from './parts.ts'
import type { Sum } from './sums.ts'

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
