/** Spreadsheets run a cell that begins so; a quote in front makes it text. */
const formula = /^[=+\-@\t\r]/

const cell = (it: string | number | null): string => {
  if (it === null) return ''
  if (typeof it === 'number') return String(it)
  const text = formula.test(it) ? `'${it}` : it
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The lines of a CSV as RFC 4180 has it. A null is an empty cell, never a 0. */
export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
