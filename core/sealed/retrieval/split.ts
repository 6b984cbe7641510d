import { border, type Unit, unitsOf } from './text-units.ts'

export interface Section {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
}

/** A stretch of a section that is long enough to answer a question, and short enough to be read as a whole. */
export interface Passage {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
}

export interface Splitting {
  /** Characters of a passage at most, with its heading. */
  readonly size?: number
  /** Characters at the end of a passage that the next may begin with. */
  readonly overlap?: number
  /** Passages at most. */
  readonly most?: number
  /** Told when there were more. */
  readonly cut?: () => void
}

/** What counts of a heading, and of a table's first row. */
const longestHeading = 120

/**
 * Sections in passages, in order. A passage ends where a paragraph does if it can, else a sentence or a line, and begins
 * with the end of the one before where that was cut. Sections never share one, unless they are a line or so each.
 */
export const split = (
  sections: readonly Section[],
  { size = 1400, overlap = 40, most = 20_000, cut = () => {} }: Splitting = {},
): readonly Passage[] => {
  const passages: Passage[] = []
  for (const section of gathered(sections, size)) {
    const heading = section.heading?.trim().slice(0, longestHeading) || null
    const room = size - (heading?.length ?? 0)
    const body = section.text.trim() === '' ? (heading ?? '') : section.text.replaceAll('\r\n', '\n')
    for (const text of textsOf(body, room, overlap)) {
      if (passages.length === most) {
        cut()
        return passages
      }
      passages.push({ text, heading, page: section.page })
    }
  }
  return passages
}

/** A passage as it is embedded and looked up: with what it stands under. */
export const readingOf = ({ heading, text }: Passage): string => (heading === null ? text : `${heading}\n${text}`)

/** Neighbours on one page that are a line or so each become one section; the headings of the later go into its text. */
const gathered = (sections: readonly Section[], size: number): readonly Section[] => {
  const tiny = size / 5
  const all: Section[] = []
  for (const section of sections) {
    const last = all.at(-1)
    const lines = readingOf(section)
    const joins =
      last !== undefined &&
      last.page === section.page &&
      section.text.length < tiny &&
      (last.text.length < tiny || last.heading === section.heading) &&
      last.text.length + lines.length < size
    if (!joins) all.push(section)
    else
      all[all.length - 1] = {
        ...last,
        text: `${last.text}\n\n${last.heading === section.heading ? section.text : lines}`,
      }
  }
  return all
}

function* textsOf(text: string, size: number, overlap: number): Generator<string> {
  const units = [...unitsOf(text, size)]
  for (let first = 0; first < units.length;) {
    const unit = units[first]
    if (unit === undefined) return
    const { header } = unit
    const front = header !== null && header.length <= longestHeading ? `${header}\n` : ''
    const end = endOf(units, first, size - front.length)
    yield front + text.slice(unit.start, units[end - 1]?.end)
    first = end === units.length ? end : restart(units, first, end, overlap)
  }
}

const borderOf = (units: readonly Unit[], at: number): number => units[at]?.border ?? 0

/** Behind the last unit that fits, or at a border that holds more apart, if that leaves at least half of a passage. */
const endOf = (units: readonly Unit[], first: number, size: number): number => {
  const start = units[first]?.start ?? 0
  let end = first + 1
  while (end < units.length && (units[end]?.end ?? Infinity) - start <= size) end++
  if (end === units.length) return end
  let best = end
  for (let at = end - 1; at > first && (units[at]?.start ?? 0) - start > size / 2; at--) {
    if (borderOf(units, at) > borderOf(units, best)) best = at
  }
  return best
}

/** Where the next passage begins: earlier than the last ended, unless a paragraph or a row ended there. */
const restart = (units: readonly Unit[], first: number, end: number, overlap: number): number => {
  if (borderOf(units, end) >= border.line) return end
  let from = end
  while (
    from - 1 > first &&
    borderOf(units, from - 1) >= border.sentence &&
    (units[end - 1]?.end ?? 0) - (units[from - 1]?.start ?? 0) <= overlap
  ) {
    from--
  }
  return from
}
