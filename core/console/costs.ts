import { type Child, el } from './element.ts'
import { cost } from './format.ts'
import type { Sum } from './sums.ts'

/** A cost; what has no price is hatched and never 0. */
export const shownCost = ({ cost: known, unpriced, requests }: Sum): Child => {
  if (requests === 0) return '–'
  if (known === null) return el('span', { class: 'unpriced' }, unpriced > 0 ? 'unpriced' : 'unanswered')
  if (unpriced === 0) return cost(known)
  return [cost(known), ' ', el('span', { class: 'unpriced' }, `+ ${unpriced} unpriced`)]
}
