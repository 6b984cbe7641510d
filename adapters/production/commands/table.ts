import { still } from '../log/worded-line.ts'

/** Formats rows; each column is as wide as its longest cell. Names of models are words of backends. */
export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  return [head, ...rows]
    .map((row) => row.map((cell, at) => still(at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join('  '))
    .join('\n')
}

/** Names and values, one pair per line. */
export const labelledLines = (fields: Readonly<Record<string, string>>): string => {
  const width = Math.max(...Object.keys(fields).map(({ length }) => length))
  return Object.entries(fields)
    .map(([label, value]) => `${label.padEnd(width)}  ${value}`)
    .join('\n')
}
