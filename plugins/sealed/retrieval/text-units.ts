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

/** Nanoseconds for a character of a line and of a sentence, for a line or a unit, a block, and a call of the segmenter. */
const [lineNs, sentenceNs, unitNs, blockNs, segmenterNs] = [2, 150, 300, 2_000, 8_000]
/** Lines between two looks at the time. */
const atOnce = 1000

/** Hands out what it finds, and tells from time to time how many nanoseconds the search takes. */
type Found<T> = Generator<T | number, void, undefined>

/** Parts paragraphs into sentences, or into meaningful lines. No unit is longer than `most` characters. */
export function* unitsOf(text: string, most: number): Found<Unit> {
  for (const block of blocksOf(text)) {
    const { isTable, isLined, first } = yield* formOf(text, block)
    const inside = isLined ? borderStrength.line : borderStrength.sentence
    let before: Unit['border'] = borderStrength.paragraph
    let header: string | null = null
    for (const range of isLined ? linesOf(text, block) : sentencesOf(text, block)) {
      if (typeof range === 'number') yield range
      else {
        for (const part of cutIn(text, range, most)) {
          yield { ...part, border: before, header }
          before = borderStrength.word
        }
        before = inside
        if (isTable) header = first
        yield unitNs
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

/** Whether each line of a block is a row of a table, and whether line ends have a meaning. */
interface Form {
  readonly isTable: boolean
  /** True in tables, lists and code, and not in prose of a narrow column. */
  readonly isLined: boolean
  readonly first: string | null
}

function* formOf(text: string, block: Range): Generator<number, Form> {
  let [lines, rows, meant] = [0, 0, 0]
  let first: string | null = null
  for (const { start, end } of linesOf(text, block)) {
    const line = text.slice(start, end)
    first ??= line
    const isRow = line.includes(between)
    if (isRow) rows++
    if (isRow || mark.test(line)) meant++
    if (++lines % atOnce === 0) yield atOnce * unitNs
  }
  yield blockNs + (lines % atOnce) * unitNs + (block.end - block.start) * lineNs
  return { isTable: lines > 1 && rows === lines, isLined: lines > 1 && meant * 2 >= lines, first }
}

/** The lines of a block that are not empty. */
function* linesOf(text: string, { start, end }: Range): Generator<Range> {
  const block = text.slice(start, end)
  for (let from = 0; from < block.length;) {
    const next = block.indexOf('\n', from)
    const to = next < 0 ? block.length : next
    // Indented lines keep their blanks, which have a meaning in code.
    if (block.slice(from, to).trim() !== '') yield { start: start + from, end: start + to }
    from = to + 1
  }
}

/** Readers write the cells of a row with this between them. */
const between = ' | '

/** A line of a list or of code: by its first characters or by its last one. */
const mark = /^(?:\s|[-*•–]\s|\d+[.)]\s)|[{};,:]\s*$/

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Characters that the segmenter sees: of fewer one sentence is made, and the time for more grows with their square. */
const [leastSegmented, mostSegmented] = [80, 4096]

/** Line ends inside a paragraph are blanks, so that a sentence goes on over them. */
function* sentencesOf(text: string, { start, end }: Range): Found<Range> {
  if (end - start < leastSegmented) return yield* trimmed(text, start, end)
  for (let from = start; from < end;) {
    const to = end - from > mostSegmented ? cutOf(text, from, mostSegmented) : end
    let next = to
    for (const { segment, index } of sentences.segment(text.slice(from, to).replaceAll('\n', ' '))) {
      const [first, last] = [from + index, from + index + segment.length]
      // The last sentence may go on behind what the segmenter sees.
      if (last === to && to < end && index > 0) next = first
      else yield* trimmed(text, first, last)
    }
    yield segmenterNs + (to - from) * sentenceNs
    from = next
  }
}

/** Cuts at blanks where it can, so that a word is cut only when it is longer than a unit. */
const cutIn = (text: string, { start, end }: Range, most: number): readonly Range[] => {
  const pieces: Range[] = []
  let from = start
  while (end - from > most) {
    const to = cutOf(text, from, most)
    pieces.push(...trimmed(text, from, to))
    from = to
  }
  return [...pieces, ...trimmed(text, from, end)]
}

/** The last blank among so many characters; where there is none, their end. */
const cutOf = (text: string, from: number, most: number): number => {
  const gap = text.slice(from, from + most + 1).search(/\s\S*$/)
  return gap > 0 ? from + gap : unbroken(text, from, from + most)
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
