/** A value of a CSV file: quoted where needed, and never a spreadsheet formula. */
const cellOf = (value: string | number | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/**
 * A CSV file as RFC 4180 has it: lines end with CR LF, and the last line has no end. Null is an empty cell.
 */
export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map((row) => row.map(cellOf).join(',')).join('\r\n')
