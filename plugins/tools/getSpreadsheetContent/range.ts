import type { CellRange } from '../../../core/ports/reader.ts'

/** Cells, rows or columns, alone or with a colon between the first and the last. A schema tries it on longer texts than it takes. */
export const rangePattern = /^\s{0,40}\$?([A-Za-z]{0,3})\$?(\d{0,9})(?:(:)\$?([A-Za-z]{0,3})\$?(\d{0,9}))?\s{0,40}$/

/** Stands for the end of the sheet, whose size is not known yet. */
const last = Number.MAX_SAFE_INTEGER

/** Rows and columns of a range; what it doesn't say is the first or the last. Null for an empty one, and for one that ends before it begins. */
export const parseRange = (text: string): CellRange | null => {
  const [, left = '', top = '', colon = '', right = '', bottom = ''] = rangePattern.exec(text) ?? []
  if (left + top === '') return null
  const range = {
    top: top === '' ? 1 : Number(top),
    bottom: endOf(top, colon, bottom, Number),
    left: left === '' ? 1 : columnOf(left),
    right: endOf(left, colon, right, columnOf),
  }
  return range.top >= 1 && range.top <= range.bottom && range.left <= range.right ? range : null
}

/** Without a colon a range is one cell, row or column. */
const endOf = (first: string, colon: string, end: string, value: (text: string) => number): number => {
  if (end !== '') return value(end)
  return first === '' || colon !== '' ? last : value(first)
}

/** A is 1, AA is 27. */
const columnOf = (letters: string): number =>
  Array.from(letters.toUpperCase()).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
