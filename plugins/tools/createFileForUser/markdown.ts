import { type Block, type Item, type Paragraph, Refused, type Runs, type Table } from './content.ts'
import { mostCells } from './delimited.ts'
import { readInline } from './inline.ts'

/** Headings, paragraphs, items, tables and the like of one file. */
const mostBlocks = 50_000
/** The number of list levels that a file distinguishes. */
const deepestList = 8

const heading = /^ {0,3}(#{1,6})(?:[ \t]+(?![ \t])(.*))?$/
const fenced = /^ {0,3}(`{3,}|~{3,})/
const listed = /^([ \t]*)(?:[-*+]|(\d{1,9})[.)])[ \t]+(\S.*)$/
const quoted = /^ {0,3}>[ \t]?/

/** A list that is open; a later line goes to the level whose indent is the nearest from the left. */
interface Level {
  readonly indent: number
  readonly list: number
  /** The number of the last item; null for bullets. */
  readonly number: number | null
}

/** The blocks of a Markdown text. HTML in it is text. */
export const readMarkdown = (text: string): readonly Block[] => {
  const lines = text.split('\n')
  const blocks: Block[] = []
  const open = paragraphs(blocks)
  const lists = nesting()
  for (let at = 0; at < lines.length; at++) {
    if (blocks.length > mostBlocks) throw new Refused('blocks')
    const line = lines[at] ?? ''
    if (line.trim() === '') {
      open.close()
      continue
    }
    const end = wholeAt(lines, at, blocks, open.close)
    if (end !== null) {
      if (end > at || heading.test(line)) lists.leave()
      at = end
    } else if (open.underline(line)) lists.leave()
    else if (isRule(line)) {
      open.close()
      lists.leave()
      blocks.push({ kind: 'rule' })
    } else readLine(line, open, lists)
  }
  open.close()
  return blocks
}

/** A line without a sign goes on with the open paragraph, as Markdown has it. */
const readLine = (line: string, open: ReturnType<typeof paragraphs>, lists: ReturnType<typeof nesting>): void => {
  const item = listed.exec(line)
  if (item !== null) return open.begin(lists.item(indentOf(item[1] ?? ''), item[2]), item[3] ?? '')
  const quote = quoted.test(line)
  if (open.goesOn(quote)) return open.add(line.replace(/^[ \t>]+/, ''))
  const depth = quote ? 0 : lists.within(indentOf(/^[ \t]*/.exec(line)?.[0] ?? ''))
  open.begin({ kind: 'paragraph', depth, quoted: quote }, line.replace(quote ? /^[ \t>]+/ : /^[ \t]+/, ''))
}

/** Reads a block that its first lines reveal: a heading, code or a table. Returns the block's last line; null when no block begins. */
const wholeAt = (lines: readonly string[], at: number, blocks: Block[], close: () => void): number | null => {
  const line = lines[at] ?? ''
  const hashes = heading.exec(line)
  if (hashes !== null) {
    close()
    const words = (hashes[2] ?? '').trim().replace(/(?:^|[ \t])#+$/, '')
    blocks.push({ kind: 'heading', level: hashes[1]?.length ?? 1, runs: readInline(words.trim()) })
    return at
  }
  const fence = fenced.exec(line)?.[1]
  if (fence !== undefined) {
    close()
    let last = at + 1
    while (last < lines.length && !isClosing(lines[last] ?? '', fence)) last++
    blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') })
    return last
  }
  if (!line.includes('|') || !isDelimiter(lines[at + 1] ?? '', cellsOf(line).length)) return null
  close()
  return tableAt(lines, at, blocks)
}

/** A fence ends at a fence of the same sign that is at least as long, with nothing behind it. */
const isClosing = (line: string, fence: string): boolean => {
  const found = fenced.exec(line)?.[1]
  return found !== undefined && found.startsWith(fence) && line.trim() === found
}

const isRule = (line: string): boolean =>
  /^ {0,3}(?:---|\*\*\*|___)/.test(line) && /^([-*_])\1*$/.test(line.replace(/[ \t]+/g, ''))

/** The line below a table's head, with as many cells as the head. */
const isDelimiter = (line: string, columns: number): boolean => {
  if (!line.includes('-')) return false
  const cells = cellsOf(line)
  return cells.length === columns && cells.every((cell) => /^:?-+:?$/.test(cell))
}

/** Cells beyond the head are dropped, as GitHub's Markdown does. */
const tableAt = (lines: readonly string[], at: number, blocks: Block[]): number => {
  const head = cellsOf(lines[at] ?? '').map(readInline)
  const rows: (readonly Runs[])[] = []
  let last = at + 1
  while ((lines[last + 1] ?? '').includes('|')) {
    const cells = cellsOf(lines[++last] ?? '')
    rows.push(head.map((_, column) => readInline(cells[column] ?? '')))
    if (head.length * rows.length > mostCells) throw new Refused('cells')
  }
  blocks.push({ kind: 'table', head, rows } satisfies Table)
  return last
}

/** The cells of a row of a table; a bar behind a backslash is text. */
const cellsOf = (line: string): readonly string[] => {
  const cells: string[] = []
  let cell = ''
  const row = line.trim().replace(/^\|/, '')
  for (let at = 0; at < row.length; at++) {
    const sign = row[at] ?? ''
    if (sign === '\\' && row[at + 1] === '|') {
      cell += '|'
      at++
    } else if (sign === '|') {
      cells.push(cell.trim())
      cell = ''
    } else cell += sign
  }
  return row.endsWith('|') && cell === '' ? cells : [...cells, cell.trim()]
}

/** A tab counts as four columns. */
const indentOf = (space: string): number => space.replaceAll('\t', '    ').length

type Begun = Omit<Paragraph, 'runs'> | Omit<Item, 'runs'>

/** The paragraph or item whose lines are being read. */
const paragraphs = (blocks: Block[]) => {
  let begun = null as Begun | null
  let text: string[] = []
  const close = (): void => {
    if (begun !== null) blocks.push({ ...begun, runs: readInline(joined(text)) })
    begun = null
    text = []
  }
  return {
    close,
    begin(what: Begun, line: string): void {
      close()
      begun = what
      text = [line]
    },
    goesOn: (quote: boolean): boolean =>
      begun !== null && (begun.kind === 'item' ? !quote : begun.quoted === quote || begun.quoted),
    add: (line: string): void => void text.push(line),
    /** Makes a heading of a paragraph that this line underlines. */
    underline(line: string): boolean {
      const mark = /^ {0,3}(=+|-{2,})[ \t]*$/.exec(line)?.[1]
      if (mark === undefined || begun?.kind !== 'paragraph' || begun.quoted) return false
      blocks.push({ kind: 'heading', level: mark.startsWith('=') ? 1 : 2, runs: readInline(joined(text)) })
      begun = null
      text = []
      return true
    },
  }
}

/** Two spaces or a backslash at the end of a line keep its end. */
const joined = (lines: readonly string[]): string =>
  lines
    .map((line, at) => {
      const text = line.trimEnd()
      if (at === lines.length - 1) return text
      const broken = line.endsWith('  ') || text.endsWith('\\')
      return broken ? `${text.replace(/\\$/, '')}\n` : `${text} `
    })
    .join('')

/** The lists that are open, from the outermost. */
const nesting = () => {
  let levels: Level[] = []
  let lists = 0
  return {
    leave: (): void => void (levels = []),
    item(indent: number, written: string | undefined): Omit<Item, 'runs'> {
      levels = levels.filter((level) => level.indent <= indent)
      const own = levels.at(-1)
      const begins = own === undefined || (indent >= own.indent + 2 && levels.length < deepestList)
      const counts = written !== undefined
      const continues = !begins && (own.number !== null) === counts
      const number = !counts ? null : continues ? (own.number ?? 0) + 1 : Number(written)
      const level = { indent: begins ? indent : own.indent, list: continues ? own.list : ++lists, number }
      levels = [...(begins ? levels : levels.slice(0, -1)), level]
      return { kind: 'item', depth: levels.length - 1, list: level.list, number }
    },
    /** How deep a paragraph with that indent stands; one without an indent ends all lists. */
    within(indent: number): number {
      levels = levels.filter((level) => level.indent < indent)
      return levels.length
    },
  }
}
