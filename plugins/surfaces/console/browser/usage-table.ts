import { shownCost, type Sum } from './sums.ts'
import { costWords, count } from './format.ts'
import type { Child } from './element.ts'
import { type Table, figure, table } from './table.ts'

export interface SumRow {
  readonly name: string
  readonly sum: Sum
}

interface SumsParts {
  readonly title: string
  readonly file: string
  readonly by: string
  readonly rows: readonly SumRow[]
  readonly curl: string
  readonly shownName?: (name: string) => Child
  /** The words for a name that is an id; the CSV has both. */
  readonly named?: (name: string) => string
}

/** Sums of use, one line for each name. */
export const sumsTable = (parts: SumsParts): Table<SumRow> => ({
  ...parts,
  empty: 'Nothing was used.',
  columns: [
    {
      head: parts.by,
      value: ({ name }) => parts.named?.(name) ?? name,
      show: ({ name }) => parts.shownName?.(name) ?? name,
    },
    ...(parts.named === undefined ? [] : [{ head: 'Id', value: ({ name }: SumRow) => name, hidden: true as const }]),
    figure('Requests', ({ sum }) => sum.requests, count),
    figure('Input', ({ sum }) => sum.input, count),
    figure('Cached', ({ sum }) => sum.cached, count),
    figure('Output', ({ sum }) => sum.output, count),
    figure('Reasoning', ({ sum }) => sum.reasoning, count),
    figure('Errors', ({ sum }) => sum.unanswered, count),
    figure('Unpriced', ({ sum }) => sum.unpriced, count),
    { head: costWords(), value: ({ sum }) => sum.cost, show: ({ sum }) => shownCost(sum), number: true },
  ],
})

export const usageTable = (parts: SumsParts): HTMLElement => table<SumRow>(sumsTable(parts))
