import { joinLines, type Writing } from '../shared/document-writing.ts'

/** The tables of a format that only says where cells and rows end. */
export interface RtfRows {
  /** Says before each text whether it stands in a table. */
  stand(inTable: boolean): void
  cell(): void
  row(): void
  /** A footnote has tables of its own. */
  open(): void
  close(): void
}

export const rtfRows = (writing: Writing): RtfRows => {
  const tables: { cells: string[]; within: boolean }[] = [{ cells: [], within: false }]
  const leave = () => {
    const table = tables.at(-1)!
    if (table.within) table.cells.push(writing.leave())
    table.within = false
  }
  const row = () => {
    leave()
    const cells = tables.at(-1)!.cells.splice(0)
    if (cells.every((cell) => cell === '')) return
    writing.say(cells.map(joinLines).join(' | '))
    writing.end()
  }
  return {
    stand(inTable) {
      const table = tables.at(-1)!
      if (inTable && !table.within) {
        if (table.cells.length === 0) writing.end()
        writing.enter()
        table.within = true
      } else if (!inTable && (table.within || table.cells.length > 0)) row()
    },
    cell() {
      if (tables.at(-1)!.within) leave()
      else tables.at(-1)!.cells.push('')
    },
    row() {
      const table = tables.at(-1)!
      // What stands after the last cell is only the end of the row.
      if (table.within && table.cells.length > 0) {
        const rest = writing.leave()
        table.within = false
        if (rest !== '') table.cells.push(rest)
      }
      row()
    },
    open: () => void tables.push({ cells: [], within: false }),
    close() {
      row()
      tables.pop()
    },
  }
}
