import { Refused, type Runs } from './content.ts'
import { linesOf } from './pdf-lines.ts'

const mostColumns = 20
/** Points of the narrowest column, and the share of the page that a column asks for at most. */
const narrowest = 18
const widestShare = 0.6
/** Rows by which columns are measured. */
const measured = 500

/** Points of each column, of so many together: as wide as their cells, or in proportion where that is too much. */
export const columnWidths = (rows: readonly (readonly Runs[])[], size: number, usable: number): readonly number[] => {
  const columns = rows[0]?.length ?? 0
  if (columns > mostColumns) throw new Refused('columns')
  const wants = Array.from({ length: columns }, () => narrowest)
  for (const row of rows.slice(0, measured))
    for (const [at, runs] of row.entries())
      wants[at] = Math.max(wants[at] ?? 0, Math.min(longestLine(runs, size), usable * widestShare))
  const sum = wants.reduce((all, want) => all + want, 0)
  if (sum <= usable) return wants
  const [rest, over] = [usable - narrowest * columns, sum - narrowest * columns]
  // As many columns as this are all as narrow as the page makes them.
  if (rest <= 0) return wants.map(() => usable / columns)
  return wants.map((want) => narrowest + ((want - narrowest) * rest) / over)
}

/** Points, with one more against rounding; the cell's own line ends count. */
const longestLine = (runs: Runs, size: number): number =>
  linesOf(runs, size, Infinity).reduce((most, line) => {
    const last = line.at(-1)
    return last === undefined ? most : Math.max(most, last.x + last.width + 1)
  }, 0)
