/** The strength of a border between two units. */
export const borderStrength = { word: 0, sentence: 1, line: 2, paragraph: 3 } as const

/** A part of a text that is never cut, without surrounding blanks. */
export interface Unit {
  readonly start: number
  readonly end: number
  /** The border before the unit. */
  readonly border: (typeof borderStrength)[keyof typeof borderStrength]
  /** The header row of a table, for its later rows. */
  readonly header: string | null
}

/** Parts paragraphs into sentences, or into meaningful lines. No unit is longer than `most` characters. */
export function* unitsOf(text: string, most: number): Generator<Unit> {
  for (const block of blocksOf(text)) {
    const lines = linesOf(text, block)
    const table = lines.length > 1 && lines.every((line) => isRow(text, line))
    const header = table ? text.slice(lines[0]?.start, lines[0]?.end) : null
    const own = lined(text, lines) ? lines : sentencesOf(text, block)
    for (const [at, range] of own.entries()) {
      const before = at === 0 ? borderStrength.paragraph : own === lines ? borderStrength.line : borderStrength.sentence
      for (const [piece, part] of cutIn(text, range, most).entries()) {
        yield { ...part, border: piece === 0 ? before : borderStrength.word, header: at === 0 ? null : header }
      }
    }
  }
}

/** In UTF-16 units; `end` is exclusive. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Paragraphs: blank lines and form feeds part them. */
function* blocksOf(text: string): Generator<Range> {
  let start = 0
  for (const gap of text.matchAll(/\n(?:[^\S\n]*\n)+|\f/g)) {
    yield* trimmed(text, start, gap.index)
    start = gap.index + gap[0].length
  }
  yield* trimmed(text, start, text.length)
}

const linesOf = (text: string, { start, end }: Range): readonly Range[] => {
  const lines: Range[] = []
  for (let from = start; from < end;) {
    const next = text.indexOf('\n', from)
    const to = next < 0 || next > end ? end : next
    // Indented lines keep their blanks, which have a meaning in code.
    if (text.slice(from, to).trim() !== '') lines.push({ start: from, end: to })
    from = to + 1
  }
  return lines
}

/** Readers write the cells of a row with ` | ` between them. */
const isRow = (text: string, { start, end }: Range): boolean => {
  const bar = text.indexOf(' | ', start)
  return bar >= 0 && bar < end
}

/** True when line ends have a meaning: in tables, lists and code, not in prose of a narrow column. */
const lined = (text: string, lines: readonly Range[]): boolean => {
  const meant = lines.filter((line) => isRow(text, line) || mark.test(text.slice(line.start, line.end)))
  return lines.length > 1 && meant.length * 2 >= lines.length
}

/** A line of a list or of code: by its first characters or by its last one. */
const mark = /^(?:\s|[-*•–]\s|\d+[.)]\s)|[{};,:]\s*$/

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Line ends inside a paragraph are blanks, so that a sentence goes on over them. */
const sentencesOf = (text: string, { start, end }: Range): readonly Range[] => {
  const found: Range[] = []
  for (const { segment, index } of sentences.segment(text.slice(start, end).replaceAll('\n', ' '))) {
    found.push(...trimmed(text, start + index, start + index + segment.length))
  }
  return found
}

/** Cuts at blanks where it can, so that a word is cut only when it is longer than a unit. */
const cutIn = (text: string, { start, end }: Range, most: number): readonly Range[] => {
  const pieces: Range[] = []
  let from = start
  while (end - from > most) {
    const gap = text.slice(from, from + most + 1).search(/\s\S*$/)
    const to = gap > 0 ? from + gap : unbroken(text, from, from + most)
    pieces.push(...trimmed(text, from, to))
    from = to
  }
  return [...pieces, ...trimmed(text, from, end)]
}

/** The last position up to `at` that does not split a character. */
const unbroken = (text: string, from: number, at: number): number => {
  let place = at
  while (place > from + 1 && at - place < 8 && continuesCharacter.test(text.slice(place, place + 2))) place--
  return place
}

const continuesCharacter = /^[\udc00-\udfff\p{M}\u200d]/u

/** Empty when the range holds only blanks. */
const trimmed = (text: string, start: number, end: number): readonly Range[] => {
  const part = text.slice(start, end)
  const from = start + part.length - part.trimStart().length
  const to = start + part.trimEnd().length
  return from < to ? [{ start: from, end: to }] : []
}
