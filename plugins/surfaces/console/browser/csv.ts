/** Spreadsheets run a cell that begins so, and some cut cells at semicolons and tabs; a quote in front makes it text. */
const formula = /(^|[;\t\r\n])(?=[=+\-@\t\r])/g

const cell = (value: string | number | null): string => {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = value.replace(formula, "$1'")
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The lines of a CSV as RFC 4180 has it. A null is an empty cell, never a 0. */
export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')

const separators = [',', ';', '\t'] as const

/** The mark that stands most often in the first line. */
const separatorOf = (text: string): string => {
  const [head = ''] = text.split(/[\r\n]/, 1)
  const times = (mark: string) => head.split(mark).length
  return separators.reduce((most, separator) => (times(separator) > times(most) ? separator : most))
}

interface Cell {
  readonly cell: string
  /** Behind the cell. */
  readonly next: number
}

/** Null where the closing quote is missing. */
const quoted = (text: string, at: number): Cell | null => {
  for (let from = at + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return null
    if (text[quote + 1] !== '"') return { cell: text.slice(at + 1, quote).replaceAll('""', '"'), next: quote + 1 }
    from = quote + 2
  }
}

const plain = (text: string, at: number, separator: string): Cell => {
  let next = at
  while (next < text.length && text[next] !== separator && text[next] !== '\n' && text[next] !== '\r') next++
  return { cell: text.slice(at, next), next }
}

/** The rows of a CSV as RFC 4180 has it, also with semicolons or tabs; null where a quoted cell has no proper end. */
export const rowsOf = (given: string): readonly (readonly string[])[] | null => {
  const text = given.replace(/^\ufeff/, '')
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  for (let at = 0; at <= text.length;) {
    const found = text[at] === '"' ? quoted(text, at) : plain(text, at, separator)
    if (found === null) return null
    row.push(found.cell)
    const end = text[found.next]
    at = found.next + (end === '\r' && text[found.next + 1] === '\n' ? 2 : 1)
    if (end === separator) continue
    if (end !== undefined && end !== '\r' && end !== '\n') return null
    // An empty line is no row.
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}
