/** A value of a CSV file: quoted where needed, and never a spreadsheet formula. */
const cellOf = (value: string | number | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map((row) => row.map(cellOf).join(',')).join('\r\n')
