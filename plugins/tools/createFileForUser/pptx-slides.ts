import { type Block, type Item, type Paragraph, Refused, type Run, type Runs, type Table, textOf } from './content.ts'

/** A heading below the second level and a line of code become paragraphs. */
export type Line = Item | Paragraph

/** Lines of text, or one table. */
export interface Slide {
  readonly title: Runs
  readonly lines: readonly Line[]
  readonly table: Table | null
}

const mostSlides = 1_000
const mostColumns = 25
/** What fits on a slide: lines of text, the characters of one, rows of a table. */
const fits = { lines: 13, characters: 75, rows: 11 }

/** A slide for each heading of the first two levels; what does not fit goes on to the next one under the same title. */
export const slidesOf = (blocks: readonly Block[]): readonly Slide[] => {
  const slides: Slide[] = []
  let title: Runs = []
  let lines: Line[] = []
  let isShown = true
  const show = (table: Table | null): void => {
    slides.push({ title, lines, table })
    if (slides.length > mostSlides) throw new Refused('blocks')
    lines = []
    isShown = true
  }
  const close = (): void => {
    if (lines.length > 0 || !isShown) show(null)
  }
  let room = fits.lines
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level <= 2) {
      close()
      title = block.runs
      isShown = false
      room = fits.lines
    } else if (block.kind === 'table') {
      if (lines.length > 0) show(null)
      for (const part of tableParts(block)) show(part)
      room = fits.lines
    } else
      for (const line of linesOf(block)) {
        const height = heightOf(line)
        if (height > room && lines.length > 0) {
          show(null)
          room = fits.lines
        }
        lines.push(line)
        room -= height
      }
  }
  close()
  return slides.length === 0 ? [{ title: [], lines: [], table: null }] : slides
}

/** In lines of the slide, by the count of characters: no font is measured. */
const heightOf = ({ runs }: Line): number =>
  textOf(runs)
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / fits.characters)), 0)

/** A rule has no line: on a slide it would part nothing. */
const linesOf = (block: Exclude<Block, Table>): readonly Line[] => {
  const plain = (runs: Runs): Line => ({ kind: 'paragraph', runs, depth: 0, quoted: false })
  if (block.kind === 'rule') return []
  if (block.kind === 'heading') return [plain(block.runs.map((run): Run => ({ ...run, bold: true })))]
  if (block.kind === 'code') return block.text.split('\n').map((text) => plain([{ text, code: true }]))
  return [block]
}

/** Each part repeats the head. Throws Refused for more columns than a slide shows. */
const tableParts = ({ head, rows }: Table): readonly Table[] => {
  if (head.length > mostColumns) throw new Refused('columns')
  const count = Math.max(1, Math.ceil(rows.length / fits.rows))
  return Array.from({ length: count }, (_, at) => ({
    kind: 'table',
    head,
    rows: rows.slice(at * fits.rows, (at + 1) * fits.rows),
  }))
}
