import type { CellRange } from '../../../core/ports/reader.ts'
import type { Cell } from '../../../core/ports/file-content.ts'
import type { Grid } from './sheets-fit.ts'

/** The sheets of that name, in any case; else the one with that number from 1. */
export const chosenSheets = (grids: readonly Grid[], sheet: string | undefined): readonly Grid[] => {
  if (sheet === undefined) return grids
  const name = sheet.trim().toLowerCase()
  const named = grids.filter((grid) => grid.name.trim().toLowerCase() === name)
  const exact = named.filter((grid) => grid.name === sheet)
  if (named.length > 0) return exact.length > 0 ? exact : named
  return /^\d{1,4}$/.test(name) ? grids.slice(Number(name) - 1, Number(name)) : []
}

/** A sheet with the cells of a range alone, which keep the numbers of their rows. */
export const rangeOf = (grid: Grid, range: CellRange | undefined): Grid => {
  if (range === undefined) return grid
  const { top, bottom, left, right } = range
  const rows: Cell[][] = []
  // By their keys, since there may be millions of places between two rows.
  for (const key of Object.keys(grid.rows)) {
    const number = Number(key) + 1
    if (number < top || number > bottom) continue
    const cells = grid.rows[number - 1]?.slice(left - 1, right) ?? []
    const last = Object.keys(cells).at(-1)
    if (last !== undefined) rows[number - 1] = cells.slice(0, Number(last) + 1)
  }
  return { ...grid, rows, left }
}
