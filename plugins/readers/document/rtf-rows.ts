import { joinLines, type DocumentWriter } from '../shared/document-writing.ts'

/** The tables of RTF, which marks only the ends of cells and rows. */
export interface RtfRows {
  /** Called before each text: true when the text belongs to a table. */
  stand(inTable: boolean): void
  cell(): void
  row(): void
  /** A footnote has its own tables. */
  open(): void
  close(): void
}

/** Text in a table opens a cell, and the first text outside ends the table. */
export const rtfRows = (writing: DocumentWriter): RtfRows => {
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
      // Text after the last cell belongs to the end of the row.
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
