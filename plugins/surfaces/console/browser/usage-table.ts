import { shownCost } from './costs.ts'
import { costWords, count } from './format.ts'
import type { Child } from './element.ts'
import type { Sum } from './sums.ts'
import { type Column, type Table, table } from './table.ts'

export interface SumRow {
  readonly name: string
  readonly sum: Sum
}

const number = (head: string, of: (sum: Sum) => number): Column<SumRow> => ({
  head,
  value: ({ sum }) => of(sum),
  show: ({ sum }) => count(of(sum)),
  number: true,
})

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
    number('Requests', ({ requests }) => requests),
    number('Input', ({ input }) => input),
    number('Cached', ({ cached }) => cached),
    number('Output', ({ output }) => output),
    number('Reasoning', ({ reasoning }) => reasoning),
    number('Errors', ({ unanswered }) => unanswered),
    number('Unpriced', ({ unpriced }) => unpriced),
    { head: costWords(), value: ({ sum }) => sum.cost, show: ({ sum }) => shownCost(sum), number: true },
  ],
})

export const usageTable = (parts: SumsParts): HTMLElement => table<SumRow>(sumsTable(parts))
