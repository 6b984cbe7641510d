import { cutOut, withMargin } from './cut-out.ts'
import { pgmOf } from './grey.ts'
import { type Box, evidenceOf, meanConfidence, type ReadLine, type ReadPage, type ReadPicture } from './ocr-engine.ts'
import type { Pixels } from './raster-image.ts'
import { redrawn } from './resampled.ts'
import { ruledTables } from './ruled-cells.ts'

/** In pixels: what remains of a rule at the edge of a cell, and the paper around a cell that is read. */
const edge = { cut: 3, paper: 12 }

/** In greys: a cell with ink differs from its paper by more than this, in a few pixels at least. */
const ink = { depth: 60, pixels: 8 }

/** A cell with less confidence holds no letters. */
const hopeless = 0.5

interface Task {
  readonly read: ReadPicture
  readonly picture: Pixels
  readonly scale: number
}

/**
 * The page with its ruled tables read cell by cell: the engine loses rows between rules, and letters on coloured paper.
 * Each table stands in the page where its cells hold more than the lines that were read in its place.
 */
export const withTables = async (page: ReadPage, task: Task): Promise<ReadPage> => {
  let { lines } = page
  for (const table of ruledTables(task.picture)) {
    const rows: ReadLine[] = []
    for (const cells of table) rows.push(...(await readRow(cells, task)))
    lines = replaced(lines, rows, around(table.flat()))
  }
  return lines === page.lines ? page : { lines, confidence: meanConfidence(lines) }
}

/** One line with all cells of a row; none where the row is empty. */
const readRow = async (cells: readonly Box[], task: Task): Promise<readonly ReadLine[]> => {
  const read: (readonly ReadLine[])[] = []
  for (const cell of cells) read.push(await readCell(cell, task))
  const lines = read.flat()
  if (lines.length === 0) return []
  return [
    {
      text: read.map((own) => own.map(({ text }) => text).join(' ')).join(' | '),
      confidence: meanConfidence(lines),
      box: around(cells),
      evidence: evidenceOf(lines),
      words: lines.flatMap(({ words }) => words),
      endsParagraph: false,
    },
  ]
}

const readCell = async ({ left, top, right, bottom }: Box, task: Task): Promise<readonly ReadLine[]> => {
  const inner = { left: left + edge.cut, top: top + edge.cut, right: right - edge.cut, bottom: bottom - edge.cut }
  const cell = cutOut(task.picture, inner)
  if (cell.bytes.filter((grey) => grey < 255 - ink.depth).length < ink.pixels) return []
  const drawn = withMargin(task.scale === 1 ? cell : redrawn(cell, { scale: task.scale, turn: 0 }), edge.paper)
  const { lines, confidence } = await task.read(pgmOf(drawn), 'block')
  return confidence < hopeless ? [] : lines
}

/** The lines of a page with rows in place of those within a box, unless these hold more. */
const replaced = (lines: readonly ReadLine[], rows: readonly ReadLine[], box: Box): readonly ReadLine[] => {
  const within = lines.filter((line) => isWithin(line.box, box))
  if (evidenceOf(rows) <= evidenceOf(within)) return lines
  const others = lines.filter((line) => !within.includes(line))
  const place = others.findIndex((line) => line.box.top >= box.bottom && line.box.left < box.right)
  const at = place < 0 ? others.length : place
  const before = others.slice(0, at).map((line, to) => (to === at - 1 ? { ...line, endsParagraph: true } : line))
  const table = rows.map((row, to) => (to === rows.length - 1 ? { ...row, endsParagraph: true } : row))
  return [...before, ...table, ...others.slice(at)]
}

/** Whether the middle of a box lies within another one. */
const isWithin = (one: Box, other: Box): boolean => {
  const [x, y] = [(one.left + one.right) / 2, (one.top + one.bottom) / 2]
  return x > other.left && x < other.right && y > other.top && y < other.bottom
}

const around = (boxes: readonly Box[]): Box => ({
  left: Math.min(...boxes.map(({ left }) => left)),
  top: Math.min(...boxes.map(({ top }) => top)),
  right: Math.max(...boxes.map(({ right }) => right)),
  bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
})
