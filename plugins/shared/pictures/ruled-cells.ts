import type { Box } from './ocr-engine.ts'
import type { Pixels } from './raster-image.ts'
import { withMargin } from './cut-out.ts'

/** In pixels: a rule is at least so long, may have gaps of so many pixels, and is no thicker. */
const rule = { length: 40, gap: 2, thickness: 6 }

/** In greys: a rule is darker than the paper on one of its sides by more than this. */
const contrast = 40

/** In pixels: a cell is at least so wide and so high. */
const cellPixels = 12

/** A picture with more cells is no table: a crossword, or a pattern. */
const mostCells = 400

/** The tables in a grey picture that lies straight: the boxes of the cells that rules enclose, row by row. */
export const ruledTables = (picture: Pixels): readonly RuledTable[] => {
  const framed = withMargin(picture, margin)
  const ruled = rulesOf(framed)
  const cells = ruled === null ? [] : enclosedIn(ruled, framed).filter(isCell(framed))
  return cells.length > mostCells ? [] : neighbours(cells.map(withoutMargin)).map(inRows).filter(isTable)
}

/** The boxes of the cells in each row. A cell that spans rows stands in the first of them. */
export type RuledTable = readonly (readonly Box[])[]

/** In pixels of paper around the picture: a rule may lie on its edge. */
const margin = 2 * rule.thickness

const withoutMargin = ({ left, top, right, bottom }: Box): Box => ({
  ...{ left: Math.max(0, left - margin), top: Math.max(0, top - margin) },
  ...{ right: right - margin, bottom: bottom - margin },
})

/** A frame around one text is no table. */
const isTable = (rows: RuledTable): boolean => rows.length > 1 && rows.some((cells) => cells.length > 1)

/** Cells with no more than a rule between them belong to one table. */
const neighbours = (cells: readonly Box[]): readonly (readonly Box[])[] =>
  cells.reduce<readonly (readonly Box[])[]>((tables, cell) => {
    const isNear = (table: readonly Box[]) => table.some((other) => isBeside(cell, other))
    return [...tables.filter((table) => !isNear(table)), [...tables.filter(isNear).flat(), cell]]
  }, [])

const isBeside = (one: Box, other: Box): boolean =>
  Math.max(one.left, other.left) - Math.min(one.right, other.right) <= 2 * rule.thickness &&
  Math.max(one.top, other.top) - Math.min(one.bottom, other.bottom) <= 2 * rule.thickness

/** Cells whose tops are level are a row, from left to right. */
const inRows = (cells: readonly Box[]): RuledTable => {
  const rows: Box[][] = []
  for (const cell of [...cells].sort((one, other) => one.top - other.top)) {
    const row = rows.at(-1)
    if (row !== undefined && cell.top - row[0]!.top < cellPixels) row.push(cell)
    else rows.push([cell])
  }
  return rows.map((row) => row.sort((one, other) => one.left - other.left))
}

/** One for each pixel of a rule; null without rules in both directions. */
const rulesOf = ({ width, height, bytes }: Pixels): Uint8Array | null => {
  const ruled = new Uint8Array(bytes.length)
  const markAlong = (lines: number, length: number, step: number, across: number): number => {
    let found = 0
    const reach = across * rule.thickness
    for (let line = rule.thickness; line < lines - rule.thickness; line++) {
      const start = line * across
      let [from, last] = [-1, -1]
      for (let place = 0; place <= length; place++) {
        const at = start + place * step
        const lightest = place < length ? Math.max(bytes[at - reach]!, bytes[at + reach]!) : 0
        if (place < length && lightest - bytes[at]! > contrast) {
          if (from < 0) from = place
          last = place
        } else if (from >= 0 && (place - last > rule.gap || place === length)) {
          if (last - from >= rule.length) {
            found++
            for (let mark = from; mark <= last; mark++) ruled[start + mark * step] = 1
          }
          from = -1
        }
      }
    }
    return found
  }
  const across = markAlong(height, width, 1, width)
  const down = across === 0 ? 0 : markAlong(width, height, width, 1)
  return across > 0 && down > 0 ? ruled : null
}

/** The boxes of all areas without rules. Marks each area as it is found. */
const enclosedIn = (ruled: Uint8Array, { width, height }: Pixels): readonly Box[] => {
  const boxes: Box[] = []
  const waiting: number[] = []
  for (let first = 0; first < ruled.length; first++) {
    if (ruled[first] !== 0) continue
    let [left, top, right, bottom] = [width, height, 0, 0]
    ruled[first] = 1
    waiting.push(first)
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const [x, y] = [at % width, Math.floor(at / width)]
      left = Math.min(left, x)
      top = Math.min(top, y)
      right = Math.max(right, x + 1)
      bottom = Math.max(bottom, y + 1)
      for (const [next, isInside] of [
        [at - 1, x > 0],
        [at + 1, x + 1 < width],
        [at - width, y > 0],
        [at + width, y + 1 < height],
      ] as const)
        if (isInside && ruled[next] === 0) {
          ruled[next] = 1
          waiting.push(next)
        }
    }
    boxes.push({ left, top, right, bottom })
  }
  return boxes
}

/** The area around a table reaches the edge of the picture. */
const isCell =
  ({ width, height }: Pixels) =>
  ({ left, top, right, bottom }: Box): boolean =>
    right - left >= cellPixels && bottom - top >= cellPixels && left > 0 && top > 0 && right < width && bottom < height
