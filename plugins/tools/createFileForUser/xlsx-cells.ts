import { type Block, Refused, type Runs, type Table, textOf, textWithLinks } from './content.ts'
import { cutText } from '../../shared/cut-text.ts'

/** One sheet of the workbook. Excel takes its name as it is, and no other sheet has the same. */
export interface Sheet {
  readonly name: string
  readonly rows: readonly Row[]
  /** Whether the first row names the columns. */
  readonly headed: boolean
}

/** Cells as text; the writer decides which of them are numbers and days. */
export interface Row {
  readonly cells: readonly string[]
  readonly bold: boolean
}

/** What Excel takes. */
const mostSheets = 200
const longestCell = 32_767
const longestName = 31
const mostColumns = 16_384

/** A sheet for each heading with something under it; headings with nothing stand above what follows them. */
export const sheetsOf = (blocks: readonly Block[]): readonly Sheet[] => {
  const parts: { heading: string | null; rows: Row[] }[] = []
  let above: Row[] = []
  let heading: string | null = null
  let rows: Row[] = []
  const close = (): void => {
    if (rows.length > 0) parts.push({ heading, rows: [...above, ...rows] })
    if (rows.length > 0) above = []
    else if (heading !== null) above = [...above, { cells: [heading], bold: true }]
    rows = []
  }
  for (const block of blocks) {
    if (block.kind === 'heading') {
      close()
      heading = textOf(block.runs)
    } else {
      // An empty row parts a table from what stands above it.
      if (block.kind === 'table' && rows.length > 0) rows.push({ cells: [], bold: false })
      for (const row of rowsOf(block)) rows.push(row)
    }
  }
  close()
  if (above.length > 0 || parts.length === 0) parts.push({ heading: null, rows: above })
  if (parts.length > mostSheets) throw new Refused('sheets')
  const name = naming()
  return parts.map(({ heading, rows }) => ({
    name: name(heading),
    rows,
    headed: rows[0]?.bold === true && rows.length > 1,
  }))
}

/** Depth becomes empty cells on the left. */
const rowsOf = (block: Exclude<Block, { kind: 'heading' }>): readonly Row[] => {
  switch (block.kind) {
    case 'table':
      return tableRows(block)
    case 'item': {
      const text = cellOf(block.runs)
      const words = block.number === null ? text : `${block.number}. ${text}`
      return [{ cells: [...Array<string>(block.depth).fill(''), words], bold: false }]
    }
    case 'code':
      return block.text.split('\n').map((line) => ({ cells: [checked(line)], bold: false }))
    case 'paragraph':
      return [{ cells: [...Array<string>(block.depth).fill(''), cellOf(block.runs)], bold: false }]
    case 'rule':
      return [{ cells: [], bold: false }]
  }
}

const tableRows = ({ head, rows }: Table): readonly Row[] => {
  if (head.length > mostColumns) throw new Refused('columns')
  return [{ cells: head.map(cellOf), bold: true }, ...rows.map((row) => ({ cells: row.map(cellOf), bold: false }))]
}

const cellOf = (runs: Runs): string => checked(textWithLinks(runs))

/** Throws Refused: Excel would call a file with a longer cell damaged. */
const checked = (text: string): string => {
  if (text.length > longestCell) throw new Refused('long-cell')
  return text
}

const unnamed = 'Sheet'

/** Names that Excel takes, each once. */
const naming = () => {
  const taken = new Set<string>()
  return (heading: string | null): string => {
    const stem = nameOf(heading ?? '')
    for (let count = 1; ; count++) {
      const ending = stem === unnamed ? `${count}` : count === 1 ? '' : ` (${count})`
      const name = whole(stem, longestName - ending.length) + ending
      if (taken.has(name.toLowerCase())) continue
      taken.add(name.toLowerCase())
      return name
    }
  }
}

/** Excel keeps the name `History` for itself, and refuses names with these signs. */
const nameOf = (heading: string): string => {
  const name = whole(heading.replace(/[\s[\]:*?/\\]+/g, ' ').replace(/^[' ]+/, ''), longestName)
  return name === '' || name.toLowerCase() === 'history' ? unnamed : name
}

/** No more than so many characters, none of them half, and no quote at the end. */
const whole = (name: string, most: number): string => cutText(name, most).replace(/(?<![' ])[' ]+$/, '')
