import type { Value } from '../../../core/ports/file-content.ts'
import { type Cutter, isContainer, type ContentLimits } from './content-cutter.ts'

/** Rows up to an allowance. The row that exceeds it is cut. An empty row counts as one value. */
export const fillRows = <C extends Value>(
  rows: Iterable<readonly unknown[]>,
  allowance: ContentLimits,
  cut: Cutter,
): { readonly rows: readonly (readonly C[])[]; readonly whole: boolean } => {
  const kept: (readonly C[])[] = []
  let { values, characters } = allowance
  for (const row of rows) {
    if (values < 1) return { rows: kept, whole: false }
    const cells: C[] = []
    kept.push(cells)
    if (row.length === 0) values -= 1
    for (const cell of row) {
      if (values < 1) return { rows: kept, whole: false }
      const cost = isContainer(cell) ? cut.cost(cell) : String(cell ?? '').length
      if (cost > characters) {
        if (characters > cut.least) cells.push(cut.fit(cell, characters) as C)
        return { rows: kept, whole: false }
      }
      cells.push(cut.fit(cell, cost) as C)
      values -= isContainer(cell) ? cost / cut.least : 1
      characters -= cost
    }
  }
  return { rows: kept, whole: true }
}
