import { type Block, Refused, type Runs } from './content.ts'

/** Cells of all tables of a file. */
export const mostCells = 200_000

/** The table of a text with delimiters; its first row is the head. An empty text has none. */
export const readDelimited = (text: string): readonly Block[] => {
  const rows = recordsOf(text, delimiterOf(text))
  const columns = rows.reduce((most, { length }) => Math.max(most, length), 0)
  if (columns * rows.length > mostCells) throw new Refused('cells')
  const [head, ...rest] = rows.map((row) => padded(row, columns))
  return head === undefined ? [] : [{ kind: 'table', head, rows: rest }]
}

/** Rows that are too short get empty cells, since every format wants rows of one length. */
const padded = (row: readonly string[], columns: number): readonly Runs[] =>
  Array.from({ length: columns }, (_, at) => {
    const text = row[at] ?? ''
    return text === '' ? [] : [{ text }]
  })

/** What stands most often in the first line, outside of quotes. */
const delimiterOf = (text: string): string => {
  const bare = text.slice(0, 10_000).replace(/(^|[,;\t\n])"(?:[^"]|"")*"/g, '$1')
  const line = bare.split('\n', 1)[0] ?? ''
  const counts = [',', ';', '\t'].map((mark) => ({ mark, count: line.split(mark).length }))
  return counts.reduce((best, mark) => (mark.count > best.count ? mark : best)).mark
}

/** Records of RFC 4180; blank lines are skipped. Throws Refused before the cells fill the memory. */
const recordsOf = (text: string, delimiter: string): readonly (readonly string[])[] => {
  const records: string[][] = []
  let record: string[] = []
  let at = 0
  let cells = 0
  while (at < text.length) {
    const { value, end } = text[at] === '"' ? quotedAt(text, at, delimiter) : plainAt(text, at, delimiter)
    record.push(value)
    if (++cells > mostCells) throw new Refused('cells')
    at = end + 1
    if (text[end] === delimiter && at < text.length) continue
    if (text[end] === delimiter) record.push('')
    if (record.length > 1 || record[0] !== '') records.push(record)
    record = []
  }
  return records
}

/** A quote within a plain cell is text. */
const plainAt = (text: string, at: number, delimiter: string) => {
  let end = at
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++
  return { value: text.slice(at, end), end }
}

/** Two quotes stand for one; a quote that nobody closes goes to the end. Blanks behind the closing quote are dropped. */
const quotedAt = (text: string, at: number, delimiter: string) => {
  let value = ''
  let from = at + 1
  for (;;) {
    const close = text.indexOf('"', from)
    if (close < 0) return { value: value + text.slice(from), end: text.length }
    value += text.slice(from, close)
    if (text[close + 1] !== '"') {
      const rest = plainAt(text, close + 1, delimiter)
      return { value: value + rest.value.trimEnd(), end: rest.end }
    }
    value += '"'
    from = close + 2
  }
}
