import { joinLines, type DocumentWriter } from './document-writing.ts'

/** Tables as lines of text. A cell may contain further tables. */
export type Rows = ReturnType<typeof rows>

/** `laidOut` is true for a table around other tables, which serves the layout of a page. */
interface Table {
  cells: string[]
  within: boolean
  laidOut: boolean
}

/** Each open cell is a text of its own in the writer, so that a cell may have paragraphs. */
export const rows = (writing: DocumentWriter) => {
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
    // A cell whose table is closed already stays apart from the next one.
    closeCell: () => (top() ? closeCell() : writing.say(' ')),
    /** In a layout row, unlike a data row, each cell gets its own lines. */
    closeRow,
  }
}
