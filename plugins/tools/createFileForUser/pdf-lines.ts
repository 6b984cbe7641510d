import type { Runs } from './content.ts'
import { codesOf, type Font, fontOf, widthOf } from './pdf-fonts.ts'

/** A stretch of a line; places and widths in points. */
export interface Segment {
  readonly codes: string
  readonly font: Font
  readonly x: number
  readonly width: number
  readonly struck: boolean
  readonly link: string | null
}

/** From left to right. An empty line still takes its height. */
export type Line = readonly Segment[]

type Style = Pick<Segment, 'font' | 'struck' | 'link'>

/** The lines that a text takes at a width in points. Words that are longer are parted; an empty text has one line. */
export const linesOf = (runs: Runs, size: number, width: number): readonly Line[] => {
  const lines: Segment[][] = [[]]
  let x = 0
  const begin = (): void => {
    lines.push([])
    x = 0
  }
  for (const { codes, style } of piecesOf(runs)) {
    if (codes === '\n') {
      begin()
      continue
    }
    for (const part of partsOf(codes, style.font, size, width)) {
      const own = (widthOf(part, style.font) * size) / 1000
      const isSpace = part.trim() === ''
      if (x > 0 && x + own > width) begin()
      // A space at the place where a line breaks is not drawn.
      if (isSpace && x === 0 && lines.length > 1) continue
      place(lines.at(-1) ?? [], { codes: part, ...style, x, width: own })
      x += own
    }
  }
  return lines
}

/** Words and the spaces between them. */
function* piecesOf(runs: Runs): Generator<{ readonly codes: string; readonly style: Style }> {
  for (const run of runs) {
    const style = { font: fontOf(run), struck: run.struck === true, link: run.link ?? null }
    for (const [at, line] of run.text.split('\n').entries()) {
      if (at > 0) yield { codes: '\n', style }
      for (const [codes] of codesOf(line).matchAll(/ +|[^ ]+/g)) yield { codes, style }
    }
  }
}

/** A word in parts that fit. */
function* partsOf(codes: string, font: Font, size: number, width: number): Generator<string> {
  if ((widthOf(codes, font) * size) / 1000 <= width) return void (yield codes)
  let part = ''
  let used = 0
  for (const code of codes) {
    const own = (widthOf(code, font) * size) / 1000
    if (part !== '' && used + own > width) {
      yield part
      part = ''
      used = 0
    }
    part += code
    used += own
  }
  yield part
}

/** Joins neighbours of one style, so that a page needs fewer operators. */
const place = (line: Segment[], segment: Segment): void => {
  const last = line.at(-1)
  const goesOn =
    last !== undefined && (['font', 'struck', 'link'] as const).every((name) => last[name] === segment[name])
  if (!goesOn) line.push(segment)
  else line[line.length - 1] = { ...last, codes: last.codes + segment.codes, width: last.width + segment.width }
}
