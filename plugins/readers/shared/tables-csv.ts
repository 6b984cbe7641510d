import { optionalPackage } from '../../shared/optional-package.ts'

/** Takes the records of one reading. */
export interface Sink<T> {
  record(fields: readonly string[]): void
  done(): T
}

/**
 * Reads records one by one, so that a large file is never in memory as cells. `begin` may run twice: an unclosed quote
 * is read again as text.
 */
export const readCsv = async <T>(text: string, delimiter: string, begin: () => Sink<T>): Promise<T> => {
  const { parse } = await optionalPackage('csv-parse', () => import('csv-parse/sync'))
  const read = (quote: string | false): T => {
    const sink = begin()
    parse(text, {
      delimiter,
      quote,
      // The library would take the end of the first line for that of all lines.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_quotes: true,
      relax_column_count: true,
      on_record: (fields: readonly string[]) => {
        sink.record(fields)
        return null
      },
    })
    return sink.done()
  }
  try {
    return read('"')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'CSV_QUOTE_NOT_CLOSED') throw error
    return read(false)
  }
}

/** A text and its delimiter. Excel's first line `sep=;` is not part of the text. */
export const delimited = (whole: string): { readonly text: string; readonly delimiter: string } => {
  const told = /^\ufeff?sep=([\t;|,])\r?\n/i.exec(whole)
  return told
    ? { text: whole.slice(told[0].length), delimiter: told[1]! }
    : { text: whole, delimiter: delimiterOf(whole) }
}

/** True when most lines with delimiters have the same delimiter equally often. */
export const isDelimited = (text: string): boolean => {
  const lines = countsByLine(text.slice(0, 65_536))
  const best = steadiestOf(lines)
  return best.lines >= 2 && best.lines * 2 > lines.length
}

const delimiterOf = (text: string): string => {
  const best = steadiestOf(countsByLine(text.slice(0, 65_536)))
  return best.lines > 0 ? best.delimiter : ','
}

/** The delimiter that splits most of the first lines into an equal number of fields. */
const steadiestOf = (lines: readonly ReadonlyMap<string, number>[]) => {
  const steady = (delimiter: string): number => {
    const tally = new Map<number, number>()
    for (const counts of lines) {
      const count = counts.get(delimiter) ?? 0
      if (count > 0) tally.set(count, (tally.get(count) ?? 0) + 1)
    }
    return Math.max(0, ...tally.values())
  }
  // Commas come last: they also occur in decimals and sentences.
  const found = ['\t', ';', '|', ','].map((delimiter) => ({ delimiter, lines: steady(delimiter) }))
  return found.reduce((one, other) => (other.lines > one.lines ? other : one))
}

/** Counts the delimiters outside of quotes for up to 100 lines. Lines without any are left out. */
const countsByLine = (text: string): readonly ReadonlyMap<string, number>[] => {
  const lines: Map<string, number>[] = []
  let counts = new Map<string, number>()
  let quoted = false
  for (const character of text) {
    if (character === '"') quoted = !quoted
    else if (quoted) continue
    else if (character === '\n' || character === '\r') {
      if (counts.size > 0) lines.push(counts)
      counts = new Map()
    } else if ('\t;|,'.includes(character)) counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  if (counts.size > 0) lines.push(counts)
  return lines.slice(0, 100)
}

/** A field as a number when no digit is lost; null when the field is empty. */
export const cellOf = (field: string): string | number | null => {
  if (field === '') return null
  const number = Number(field)
  return /^-?\d/.test(field) && String(number) === field ? number : field
}
