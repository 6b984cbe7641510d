import type { Section } from '../../../core/ports/reader.ts'
import type { Work } from '../../shared/work-in-turns.ts'
import { borderStrength, type Unit, unitsOf } from './text-units.ts'

/** A part of a section: long enough to answer a question, and short enough to be read as a whole. */
export type Passage = Section

/** Nanoseconds for a section that is looked at. */
const sectionNs = 500

/** In characters: the used length of a heading, and of a table's first row. */
const longestHeading = 120

/** In characters: how much of a passage the next one may repeat. */
const overlap = 40

/** The largest number of passages. */
const mostPassages = 20_000

/**
 * Splits sections into passages, in order. A passage ends after a paragraph if possible, otherwise after a sentence or
 * a line. A passage after such a cut repeats the end of the previous one. Two sections share a passage only when each
 * has about one line. A passage has at most `size` characters with its heading.
 */
export function* splitSections(sections: readonly Section[], size = 1400): Work<readonly Passage[]> {
  const passages: Passage[] = []
  for (const section of yield* gathered(sections, size)) {
    const heading = section.heading?.trim().slice(0, longestHeading) || null
    const room = size - (heading?.length ?? 0)
    const body = section.text.trim() === '' ? (heading ?? '') : section.text.replaceAll('\r\n', '\n')
    for (const text of yield* textsOf(body, room)) {
      if (passages.length === mostPassages) return passages
      passages.push({ text, heading, page: section.page })
    }
  }
  return passages
}

/** The text of a passage for embedding and search: its heading and its text. */
export const embeddedTextOf = ({ heading, text }: Passage): string => (heading === null ? text : `${heading}\n${text}`)

/**
 * Joins neighbouring sections on one page that have about one line each. The headings of the later ones go into the
 * text.
 */
function* gathered(sections: readonly Section[], size: number): Work<readonly Section[]> {
  const tiny = size / 5
  const all: Section[] = []
  for (const [at, section] of sections.entries()) {
    if (at % 100 === 0) yield 100 * sectionNs
    const last = all.at(-1)
    const lines = embeddedTextOf(section)
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

/** The texts of one section, in order. Later parts of a table repeat its header row, where that is short. */
function* textsOf(text: string, size: number): Work<readonly string[]> {
  const found = unitsOf(text, size)
  const texts: string[] = []
  // One unit more than fits is looked at: its border tells where the passage ends.
  const units: Unit[] = []
  let isWhole = false
  for (;;) {
    while (!isWhole && (units.at(-1)?.end ?? 0) - (units[0]?.start ?? 0) <= size) {
      const next = found.next()
      isWhole = next.done === true
      if (typeof next.value === 'number') yield next.value
      else if (next.value !== undefined) units.push(next.value)
    }
    const [unit] = units
    if (unit === undefined) return texts
    const { header } = unit
    const front = header !== null && header.length <= longestHeading ? `${header}\n` : ''
    const end = endOf(units, size - front.length)
    texts.push(front + text.slice(unit.start, units[end - 1]?.end))
    units.splice(0, end === units.length ? end : restart(units, end))
  }
}

/** The border before a unit; the weakest where there is no unit. */
const borderOf = (units: readonly Unit[], at: number): number => units[at]?.border ?? 0

/** Ends after the last unit that fits. A stronger border wins when it leaves at least half of a passage. */
const endOf = (units: readonly Unit[], size: number): number => {
  const start = units[0]?.start ?? 0
  let end = 1
  while (end < units.length && (units[end]?.end ?? Infinity) - start <= size) end++
  if (end === units.length) return end
  let best = end
  for (let at = end - 1; at > 0 && (units[at]?.start ?? 0) - start > size / 2; at--) {
    if (borderOf(units, at) > borderOf(units, best)) best = at
  }
  return best
}

/** The start of the next passage. It overlaps the previous passage, unless that one ended with a paragraph or a row. */
const restart = (units: readonly Unit[], end: number): number => {
  if (borderOf(units, end) >= borderStrength.line) return end
  let from = end
  while (
    from > 1 &&
    borderOf(units, from - 1) >= borderStrength.sentence &&
    (units[end - 1]?.end ?? 0) - (units[from - 1]?.start ?? 0) <= overlap
  ) {
    from--
  }
  return from
}
