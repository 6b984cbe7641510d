import { joinLines, type Writing } from './document-writing.ts'

/** Tables as lines of text; they may stand in each other's cells. */
export interface Rows {
  openTable(): void
  closeTable(): void
  openRow(): void
  openCell(): void
  closeCell(): void
  /** A row that is laid out rather than a row of data has each cell on lines of its own. */
  closeRow(): void
}

interface Table {
  cells: string[]
  within: boolean
  laidOut: boolean
}

export const rows = (writing: Writing): Rows => {
  const tables: Table[] = []
  const top = () => tables.at(-1)
  const closeCell = () => {
    const table = top()
    if (!table?.within) return
    table.within = false
    table.cells.push(writing.leave())
  }
  const closeRow = () => {
    closeCell()
    const cells = top()?.cells.splice(0) ?? []
    if (cells.every((cell) => cell === '')) return
    const apart = top()!.laidOut || cells.length === 1
    writing.say(apart ? cells.filter((cell) => cell !== '').join('\n') : cells.map(joinLines).join(' | '))
    writing.end()
  }
  return {
    openTable() {
      const outer = top()
      if (outer) outer.laidOut = true
      writing.end()
      tables.push({ cells: [], within: false, laidOut: false })
    },
    closeTable() {
      closeRow()
      tables.pop()
    },
    openRow: closeRow,
    openCell() {
      closeCell()
      const table = top()
      if (!table) return
      table.within = true
      writing.enter()
    },
    closeCell,
    closeRow,
  }
}
