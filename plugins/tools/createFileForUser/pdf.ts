import { type Block, Refused, type Run, type Runs, type Table, textOf, titleOf } from './content.ts'
import { type Bookmark, bytesOf, type Page, paper, pdfFile } from './pdf-file.ts'
import { type Line, linesOf, type Segment } from './pdf-lines.ts'

const mostPages = 2_000
const mostBookmarks = 1_000
/** Points. */
const margin = 56
const usable = paper.width - 2 * margin
const sizes = { text: 10.5, code: 9, table: 9 }
const headings = [20, 16, 13.5, 12, 11, 10.5]
const indent = 16
/** Heights of lines in letter sizes. */
const leading = 1.35

/** A PDF on A4. Throws Refused for characters that its fonts don't have. */
export const pdfOf = (blocks: readonly Block[]): Uint8Array => {
  const sheet = drawing()
  for (const block of blocks) drawBlock(sheet, block)
  return pdfFile(sheet.pages, sheet.bookmarks, titleOf(blocks))
}

type Sheet = ReturnType<typeof drawing>

/** The pages, and how far down the last one is used. */
const drawing = () => {
  const pages: { readonly shown: string[]; readonly links: Page['links'][number][] }[] = []
  const bookmarks: Bookmark[] = []
  let y = 0
  const turn = (): void => {
    if (pages.push({ shown: [], links: [] }) > mostPages) throw new Refused('blocks')
    y = paper.height - margin
  }
  turn()
  return {
    pages,
    bookmarks,
    room: (): number => y - margin,
    turn,
    skip: (height: number): void => void (y -= height),
    /** Begins a new page where so much doesn't fit. */
    need(height: number): void {
      if (y - height < margin && y < paper.height - margin) turn()
    },
    mark(title: string): void {
      if (bookmarks.length < mostBookmarks) bookmarks.push({ title, page: pages.length - 1, y })
    },
    /** Draws a line whose top is so far below the place reached; links are marked. */
    line(line: Line, x: number, size: number, below = 0): void {
      const page = pages.at(-1)
      const base = y - below - size
      for (const segment of line) {
        page?.shown.push(...drawn(segment, x, base, size))
        if (segment.link !== null) {
          const from = x + segment.x
          const box = [from, base - 2, from + segment.width, base + size].map((number) => Number(number.toFixed(2)))
          page?.links.push({ url: segment.link, box })
        }
      }
    },
    rule(x: number, width: number): void {
      pages
        .at(-1)
        ?.shown.push(`0.6 G 0.5 w ${x.toFixed(2)} ${y.toFixed(2)} m ${(x + width).toFixed(2)} ${y.toFixed(2)} l S`)
    },
  }
}

/** Operators of PDF: colour, font, place and codes; a link is blue, and a line strikes text out. */
const drawn = ({ codes, font, x: own, width, struck, link }: Segment, x: number, base: number, size: number) => {
  const at = (x + own).toFixed(2)
  const text = `BT ${link === null ? '0 g' : '0.02 0.39 0.76 rg'} /${font} ${size} Tf ${at} ${base.toFixed(2)} Td ${bytesOf(codes)} Tj ET`
  if (!struck) return [text]
  const middle = (base + size * 0.28).toFixed(2)
  return [text, `0 G 0.6 w ${at} ${middle} m ${(x + own + width).toFixed(2)} ${middle} l S`]
}

/** Skips behind a block in points, so that blocks stand apart. */
const drawBlock = (sheet: Sheet, block: Block): void => {
  switch (block.kind) {
    case 'heading':
      return drawHeading(sheet, block.level, block.runs)
    case 'paragraph': {
      const left = indent * (block.depth + (block.quoted ? 1 : 0))
      const runs = block.quoted ? block.runs.map((run): Run => ({ ...run, italic: true })) : block.runs
      drawText(sheet, runs, left, sizes.text)
      return sheet.skip(6)
    }
    case 'item': {
      const left = indent * (block.depth + 1)
      const sign = block.number === null ? '•' : `${block.number}.`
      drawText(sheet, block.runs, left + (block.number === null ? 0 : 6), sizes.text, [{ text: sign }], left - 12)
      return sheet.skip(2)
    }
    case 'code':
      for (const text of block.text.split('\n')) drawText(sheet, [{ text, code: true }], indent, sizes.code)
      return sheet.skip(6)
    case 'rule':
      sheet.need(14)
      sheet.skip(6)
      sheet.rule(margin, usable)
      return sheet.skip(8)
    case 'table':
      return drawTable(sheet, block)
  }
}

const drawHeading = (sheet: Sheet, level: number, runs: Runs): void => {
  const size = headings[level - 1] ?? sizes.text
  // A heading stays with the lines below it.
  sheet.need(size * leading + 40)
  sheet.skip(8)
  const title = textOf(runs).replace(/\s+/g, ' ').trim()
  if (title !== '') sheet.mark(title.slice(0, 200))
  const bold = runs.map((run): Run => ({ ...run, bold: true }))
  drawText(sheet, bold, 0, size)
  sheet.skip(4)
}

/** Draws the lines of a text, with a sign before the first one. */
const drawText = (sheet: Sheet, runs: Runs, left: number, size: number, sign: Runs = [], signLeft = 0): void => {
  for (const [at, line] of linesOf(runs, size, usable - left).entries()) {
    sheet.need(size * leading)
    if (at === 0) for (const mark of linesOf(sign, size, usable)) sheet.line(mark, margin + signLeft, size)
    sheet.line(line, margin + left, size)
    sheet.skip(size * leading)
  }
}

/** Points on each side of a cell's text. */
const padding = 4

const drawTable = (sheet: Sheet, { head, rows }: Table): void => {
  const bold = head.map((runs) => runs.map((run): Run => ({ ...run, bold: true })))
  const widths = columnWidths([bold, ...rows], sizes.table, usable - 2 * padding * head.length)
  const laid = (cells: readonly Runs[]): readonly (readonly Line[])[] =>
    cells.map((runs, at) => linesOf(runs, sizes.table, widths[at] ?? usable))
  const top = laid(bold)
  drawRow(sheet, top, widths, null)
  for (const row of rows) drawRow(sheet, laid(row), widths, top)
  sheet.skip(10)
}

/** Draws a row; on each new page the head of the table comes first, unless it takes half of it. */
const drawRow = (
  sheet: Sheet,
  cells: readonly (readonly Line[])[],
  widths: readonly number[],
  head: readonly (readonly Line[])[] | null,
): void => {
  const height = sizes.table * leading
  const count = cells.reduce((most, { length }) => Math.max(most, length), 1)
  for (let from = 0; from < count;) {
    if (sheet.room() < height + 2 * padding) {
      sheet.turn()
      const isShort = head !== null && head.every(({ length }) => length * height < paper.height / 3)
      if (isShort) drawRow(sheet, head, widths, null)
    }
    const fit = Math.max(1, Math.floor((sheet.room() - 2 * padding) / height))
    const lines = Math.min(fit, count - from)
    let x = margin
    for (const [column, cell] of cells.entries()) {
      for (const [at, line] of cell.slice(from, from + lines).entries())
        sheet.line(line, x + padding, sizes.table, padding + at * height)
      x += (widths[column] ?? 0) + 2 * padding
    }
    sheet.skip(lines * height + 2 * padding)
    sheet.rule(margin, x - margin)
    from += lines
  }
}

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
