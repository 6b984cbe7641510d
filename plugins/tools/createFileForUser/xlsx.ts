import { type Block, isRightToLeft, titleOf } from './content.ts'
import { escaped, namespaces, officeFile, type Part } from './office.ts'
import { type Row, type Sheet, sheetsOf } from './xlsx-cells.ts'

/** Places of the styles below. */
const style = { plain: 0, bold: 1, hundredths: 2, date: 3, quoted: 4 } as const

const cellStyle = (more: string): string => `<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"${more}/>`

const styles = [
  `<styleSheet xmlns="${namespaces.x}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>`,
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>',
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5">`,
  cellStyle(''),
  cellStyle(' applyFont="1"').replace('fontId="0"', 'fontId="1"'),
  cellStyle(' applyNumberFormat="1"').replace('numFmtId="0"', 'numFmtId="2"'),
  cellStyle(' applyNumberFormat="1"').replace('numFmtId="0"', 'numFmtId="164"'),
  cellStyle(' quotePrefix="1"'),
  '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
].join('')

/** A workbook. Numbers and days are such; all else is text, a formula too. */
export const xlsxOf = (blocks: readonly Block[]): Uint8Array => {
  const sheets = sheetsOf(blocks)
  const entries = sheets.map(
    ({ name }, at) => `<sheet name="${escaped(name)}" sheetId="${at + 1}" r:id="rId${at + 2}"/>`,
  )
  const parts: readonly Part[] = sheets.map((sheet, at) => ({
    name: `xl/worksheets/sheet${at + 1}.xml`,
    type: 'spreadsheetml.worksheet',
    content: sheetOf(sheet),
  }))
  return officeFile('xl/workbook.xml', titleOf(blocks), [
    {
      name: 'xl/workbook.xml',
      type: 'spreadsheetml.sheet.main',
      content: `<workbook xmlns="${namespaces.x}" xmlns:r="${namespaces.r}"><sheets>${entries.join('')}</sheets></workbook>`,
      links: [
        { id: 'rId1', kind: 'styles', target: 'styles.xml' },
        ...sheets.map((_, at) => ({ id: `rId${at + 2}`, kind: 'worksheet', target: `worksheets/sheet${at + 1}.xml` })),
      ],
    },
    { name: 'xl/styles.xml', type: 'spreadsheetml.styles', content: styles },
    ...parts,
  ])
}

/** A sheet with a head keeps its first row in sight. */
const sheetOf = ({ rows, headed }: Sheet): string => {
  const turned = isRightToLeft(rows[0]?.cells.join(' ') ?? '') ? ' rightToLeft="1"' : ''
  const pane = headed ? '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' : ''
  const view = `<sheetViews><sheetView${turned} workbookViewId="0">${pane}</sheetView></sheetViews>`
  return `<worksheet xmlns="${namespaces.x}">${view}${widthsOf(rows)}<sheetData>${rows.map(rowOf).join('')}</sheetData></worksheet>`
}

/** Characters of the narrowest and the widest column. */
const [narrowest, widest] = [8, 60]

/** By the longest cell of each column. */
const widthsOf = (rows: readonly Row[]): string => {
  const widths: number[] = []
  for (const { cells } of rows)
    for (const [at, cell] of cells.entries())
      widths[at] = Math.max(widths[at] ?? narrowest, Math.min(cell.length + 2, widest))
  const columns = widths.map((width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`)
  return columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`
}

const rowOf = ({ cells, bold }: Row, at: number): string => {
  const filled = cells.map((cell, column) => (cell === '' ? '' : cellOf(cell, `${lettersOf(column)}${at + 1}`, bold)))
  return `<row r="${at + 1}">${filled.join('')}</row>`
}

/** Heads stay text, so that a year in a head is no number. */
const cellOf = (text: string, place: string, bold: boolean): string => {
  if (bold) return textCell(text, place, style.bold)
  const day = dayOf(text)
  if (day !== null) return `<c r="${place}" s="${style.date}"><v>${day}</v></c>`
  if (isNumber(text))
    return `<c r="${place}" s="${/\.\d\d$/.test(text) ? style.hundredths : style.plain}"><v>${text}</v></c>`
  // The mark keeps a program from evaluating the text when a user edits the cell.
  return textCell(text, place, /^[=+\-@\t]/.test(text) ? style.quoted : style.plain)
}

const textCell = (text: string, place: string, look: number): string =>
  `<c r="${place}" s="${look}" t="inlineStr"><is><t xml:space="preserve">${escaped(unescaped(text))}</t></is></c>`

/** Spreadsheets read `_x000A_` as a line feed: the underscore before such a text is written so itself. */
const unescaped = (text: string): string => text.replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')

/** A number that loses nothing when it becomes one: no leading zero, at most 15 digits, no zero at its end but in hundredths. */
const isNumber = (text: string): boolean =>
  /^(?!-0$)-?(?:0|[1-9]\d{0,14})(?:\.\d{0,13}[1-9]|\.\d0)?$/.test(text) && text.replace(/\D/g, '').length <= 15

/** The days since the beginning of 1900 of a text such as 2024-02-29; null where it is none, or stands before March of 1900. */
const dayOf = (text: string): number | null => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const at = new Date(`${text}T00:00:00Z`)
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
  const days = at.getTime() / 86_400_000 + 25_569
  return isReal && days > 60 ? days : null
}

/** Columns from 0: A, Z, AA. */
const lettersOf = (column: number): string =>
  (column < 26 ? '' : lettersOf(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26))
