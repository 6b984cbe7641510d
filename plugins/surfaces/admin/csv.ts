/** Spreadsheets run a cell that begins so, and some cut cells at semicolons and tabs; a quote in front makes it text. */
const formula = /(^|[;\t\r\n])(?=[=+\-@\t\r])/g

/** A value of a CSV file, quoted where needed. */
const cellOf = (value: string | number | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const plain = value.replace(formula, "$1'")
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/**
 * A CSV file as RFC 4180 has it: lines end with CR LF, and the last line has no end. Null is an empty cell.
 */
export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map((row) => row.map(cellOf).join(',')).join('\r\n')
