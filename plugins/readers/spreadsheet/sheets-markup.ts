import { Unreadable } from '../../../core/errors.ts'
import type { Cell } from '../../../core/ports/file-content.ts'
import { optionalPackage } from '../../shared/optional-package.ts'
import { scanXml } from '../shared/markup.ts'
import { cellOf } from '../shared/tables-csv.ts'
import type { Grid } from './sheets-fit.ts'
import type { Workbook } from './sheets-workbook.ts'

/** The size of a sheet of Excel. */
const mostColumns = 16_384
const mostRows = 1_048_576
/** Places that cells may cover in a sheet, each counted as often as it is passed. */
const mostCovered = 5_000_000

/** A sheet that is being read; places count from 0. */
interface Draft {
  readonly name: string
  readonly rows: Cell[][]
  /** For each column the last row that a cell of an earlier row covers. */
  readonly covered: Map<number, number>
  passed: number
  row: number
  column: number
  columnCount: number
}

const draftOf = (name: string): Draft => ({
  ...{ name, rows: [], covered: new Map(), passed: 0 },
  ...{ row: -1, column: 0, columnCount: 0 },
})

const nextRow = (draft: Draft, row = draft.row + 1): void => {
  draft.row = row
  draft.column = 0
}

const pass = (draft: Draft): void => {
  if (++draft.passed > mostCovered) throw new Unreadable()
}

/** Puts a cell behind the ones before, or at its column. It covers so many more columns and rows. */
const put = (draft: Draft, cell: Cell, across = 0, down = 0): void => {
  const { rows, covered, row } = draft
  for (; (covered.get(draft.column) ?? -1) >= row; draft.column++) pass(draft)
  const first = draft.column
  draft.column = first + across + 1
  if (row < 0 || row >= mostRows || draft.column > mostColumns) return
  for (let column = first; down > 0 && column < draft.column; column++) {
    pass(draft)
    covered.set(column, row + down)
  }
  if (cell === null) return
  const cells = (rows[row] ??= [])
  cells[first] = cell
  draft.columnCount = Math.max(draft.columnCount, first + 1)
}

const gridsOf = (drafts: readonly Draft[]): readonly Grid[] =>
  drafts.map(({ name, rows, columnCount }) => ({ name, rows, columnCount, rowCount: rows.length, cut: false }))

/** A whole number of an attribute, at least `least`. */
const numberOf = (text: string | null | undefined, least: number): number =>
  /^\d{1,7}$/.test(text ?? '') ? Math.max(least, Number(text)) : least

const workbook = /<(\w+:)?Workbook[\s>]/
const page = /^(<!doctype html|<(html|head|body|meta|style|table|div|center)[\s>])/i

/** What other programs give the name of a workbook: the XML of Excel 2003, or a page with tables. Null for other texts. */
export const readMarkup = async (bytes: Uint8Array, text: string): Promise<Workbook | null> => {
  const head = text.slice(0, 4_096).replace(/^[\s\ufeff]+/, '')
  if (/^<\?xml|^<(\w+:)?Workbook/.test(head) && workbook.test(head)) return { format: 'xml', grids: readXml(bytes) }
  if (!page.test(head)) return null
  const grids = await readTables(text)
  return grids.length === 0 ? null : { format: 'html', grids }
}

const readXml = (bytes: Uint8Array): readonly Grid[] => {
  const drafts: Draft[] = []
  let [type, content, isOpen, inComment] = ['', '', false, false]
  let spans: readonly [number, number] = [0, 0]
  scanXml(bytes, {
    open(name, attribute) {
      const draft = drafts.at(-1)
      if (name === 'Worksheet') drafts.push(draftOf(attribute('Name') ?? `Sheet ${drafts.length + 1}`))
      else if (draft === undefined) return
      else if (name === 'Row') nextRow(draft, numberOf(attribute('Index'), draft.row + 2) - 1)
      else if (name === 'Cell') {
        draft.column = numberOf(attribute('Index'), draft.column + 1) - 1
        spans = [numberOf(attribute('MergeAcross'), 0), numberOf(attribute('MergeDown'), 0)]
        ;[type, content] = ['', '']
      } else if (name === 'Comment') inComment = true
      else if (name === 'Data' && !inComment) [type, isOpen] = [attribute('Type') ?? '', true]
    },
    text(words) {
      if (isOpen) content += words
    },
    close(name) {
      if (name === 'Data') isOpen = false
      else if (name === 'Comment') inComment = false
      else if (name === 'Cell' && drafts.length > 0) put(drafts.at(-1)!, typed(type, content), ...spans)
    },
  })
  return gridsOf(drafts)
}

/** A day without a time is a day. */
const typed = (type: string, content: string): Cell => {
  if (content === '') return null
  if (type === 'Number' && Number.isFinite(Number(content))) return Number(content)
  if (type === 'Boolean') return content === '1'
  return type === 'DateTime' ? content.replace(/\.0+$/, '').replace(/T00:00:00$/, '') : content
}

/** A table that is open, with the text of its open cell. */
interface OpenTable {
  readonly draft: Draft
  text: string | null
  attributes: Readonly<Record<string, string>>
}

/** The most columns and rows that a cell of a page may cover. */
const mostSpan = { columns: 1_000, rows: 65_534 }

const endCell = (table: OpenTable | undefined): void => {
  if (table?.text == null) return
  const { colspan, rowspan, 'x:num': number } = table.attributes
  const lines = table.text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())
  const text = lines.filter((line) => line !== '').join('\n')
  const across = Math.min(mostSpan.columns, numberOf(colspan, 1)) - 1
  const down = Math.min(mostSpan.rows, numberOf(rowspan, 1)) - 1
  table.text = null
  // Excel writes the number itself beside the text of its format.
  put(table.draft, number && Number.isFinite(Number(number)) ? Number(number) : cellOf(text), across, down)
}

/** A sheet for each table. The text of a table within a cell is not that of the cell. */
const readTables = async (text: string): Promise<readonly Grid[]> => {
  const { Parser } = await optionalPackage('htmlparser2', () => import('htmlparser2'))
  const drafts: Draft[] = []
  const tables: OpenTable[] = []
  let hidden = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      const table = tables.at(-1)
      if (name === 'script' || name === 'style') hidden++
      else if (name === 'table') {
        const draft = draftOf(`Table ${drafts.length + 1}`)
        drafts.push(draft)
        tables.push({ draft, text: null, attributes: {} })
      } else if (table === undefined) return
      else if (name === 'tr') {
        endCell(table)
        nextRow(table.draft)
      } else if (name === 'td' || name === 'th') {
        endCell(table)
        if (table.draft.row < 0) nextRow(table.draft)
        Object.assign(table, { text: '', attributes })
      } else if (table.text !== null && /^(br|p|div|li)$/.test(name)) table.text += '\n'
    },
    ontext(words) {
      const table = tables.at(-1)
      if (hidden === 0 && table?.text != null) table.text += words.replace(/\n/g, ' ')
    },
    onclosetag(name) {
      if (name === 'script' || name === 'style') hidden--
      else if (/^(td|th|tr|table)$/.test(name)) endCell(tables.at(-1))
      if (name === 'table') tables.pop()
    },
  })
  parser.end(text)
  return gridsOf(drafts.filter(({ rows }) => rows.length > 0))
}
