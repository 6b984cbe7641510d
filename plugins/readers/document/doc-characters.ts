import { shortened } from '../shared/beside.ts'
import { changesOf, formatPages, type Span, listAt } from './doc-formats.ts'
import { isOld, type Piece } from './doc-pieces.ts'

/** Characters that are not shown, by their bytes in the stream. */
interface Unshown extends Span {
  readonly kind: 'deleted' | 'hidden'
}

/** Changes of characters: an author deleted them, or a style formats them. */
const changes = { deleted: 0x0800, style: 0x4a30 } as const

/** Characters that are not shown, since Word 97, in the order of their bytes; older versions have none here. */
export const unshownOf = (main: Buffer, table: Buffer | null): readonly Unshown[] => {
  if (isOld(main) || table === null) return []
  const hides = hidingStyles(main, table)
  const spans: Unshown[] = []
  for (const page of formatPages(main, table, 0xfa)) {
    const count = page[511]!
    if (5 * count + 4 > 511) continue
    for (let at = 0; at < count; at++) {
      const place = 2 * page[4 * (count + 1) + at]!
      const kind = place === 0 ? null : kindOf(page, place, hides)
      if (kind !== null) spans.push({ kind, from: page.readUInt32LE(4 * at), to: page.readUInt32LE(4 * at + 4) })
    }
  }
  return apart(spans)
}

/** Spans in the order of their bytes. A broken file, whose spans overlap, loses what stands twice. */
const apart = (spans: Unshown[]): readonly Unshown[] => {
  let end = 0
  return spans
    .sort((one, other) => one.from - other.from)
    .flatMap(({ kind, from, to }) => {
      const start = Math.max(from, end)
      end = Math.max(end, to)
      return start < to ? [{ kind, from: start, to }] : []
    })
}

/** How one entry of a page keeps its characters from being shown; null where they are shown. */
const kindOf = (page: Buffer, place: number, hides: (style: number) => boolean): Unshown['kind'] | null => {
  let style: number | null = null
  let hidden: number | null = null
  for (const { change, value, word } of changesOf(page, place + 1, place + 1 + page[place]!)) {
    if (change === changes.deleted && value === 1) return 'deleted'
    if (change === changes.style) style = word
    if (change === hide) hidden = value
  }
  const byStyle = style !== null && hides(style)
  return (hidden === null ? byStyle : switched(hidden, byStyle)) ? 'hidden' : null
}

/** The pieces with a filler in the place of characters that are not shown, and the hidden texts. */
export const shownPieces = (pieces: readonly Piece[], unshown: readonly Unshown[]) => {
  const hidden = hiddenTexts()
  const shown = pieces.map((piece) => {
    const { text, place, width } = piece
    const parts: string[] = []
    let at = 0
    for (const { from, to, kind } of spansWithin(unshown, place, place + text.length * width)) {
      const first = Math.max(0, Math.ceil((from - place) / width))
      const last = Math.min(text.length, Math.ceil((to - place) / width))
      hidden.show(text.slice(at, first))
      const part = text.slice(first, last)
      if (kind === 'hidden') hidden.hide(part)
      // Marks of paragraphs and fields stay, since the text around them depends on them.
      parts.push(text.slice(at, first), part.replace(/[^\x00-\x1f]/g, filler))
      at = last
    }
    hidden.show(text.slice(at))
    return { ...piece, text: parts.join('') + text.slice(at) }
  })
  return { shown, hidden: hidden.finish() }
}

/** The spans with a byte between two places, of spans that are apart. */
function* spansWithin(spans: readonly Unshown[], from: number, to: number): Generator<Unshown> {
  let [low, high] = [0, from < to ? spans.length : 0]
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.to <= from) low = middle + 1
    else high = middle
  }
  for (let at = low; at < spans.length && spans[at]!.from < to; at++) yield spans[at]!
}

/** A character without a meaning in documents, which readers drop. */
const filler = '\x00'

/** Text without fillers, control characters and instructions of fields. */
export const withoutMarks = (text: string): string => text.replace(/\x13[^\x14\x15]*\x14?|[\x00-\x08\x0e-\x1f]/g, '')

/** Runs of hidden characters that follow each other are one text, which ends with its paragraph. */
const hiddenTexts = () => {
  const texts: string[] = []
  let open: string[] = []
  const end = () => {
    for (const line of open.join('').split(/[\r\x07\x0c]/)) {
      const words = shortened(withoutMarks(line))
      if (words !== '') texts.push(words)
    }
    open = []
  }
  return {
    hide: (text: string) => void open.push(text),
    show(text: string): void {
      if (text !== '') end()
    },
    finish(): readonly string[] {
      end()
      return texts
    },
  }
}

/** A change of a character's format that hides it. */
const hide = 0x083c

/**
 * A change of 0 or 1 stands for itself, and 128 takes what the style says. Word writes 129, the opposite of the style,
 * for words that are shown in a paragraph whose style hides it.
 */
const switched = (value: number, inherited: boolean): boolean => (value === 0x80 ? inherited : value === 1)

/** A character style; `hides` is null where the style before it decides. */
interface Style {
  readonly before: number
  readonly hides: number | null
}

/** Numbers of styles have 12 bits. */
const mostStyles = 4_095

/** A longer chain of styles is a circle. */
const longest = 20

const characterStyle = 2

/** Tells whether a character style hides its text, by the number of the style. Broken styles hide nothing. */
const hidingStyles = (main: Buffer, table: Buffer): ((style: number) => boolean) => {
  const styles = stylesIn(listAt(main, table, 0xa2))
  const hides = (number: number, depth: number): boolean => {
    const style = depth < longest ? styles[number] : null
    if (!style) return false
    return style.hides === 0 || style.hides === 1 ? style.hides === 1 : inherited(style, depth)
  }
  const inherited = ({ before, hides: own }: Style, depth: number): boolean =>
    switched(own ?? 0x80, hides(before, depth + 1))
  return (style) => hides(style, 0)
}

/** Styles by their numbers; null stands for an empty style and for one of another kind. */
const stylesIn = (sheet: Buffer): readonly (Style | null)[] => {
  const styles: (Style | null)[] = []
  if (sheet.length < 6) return styles
  const fixed = sheet.readUInt16LE(4)
  for (let at = 2 + sheet.readUInt16LE(0); at + 2 <= sheet.length && styles.length < mostStyles;) {
    const size = sheet.readUInt16LE(at)
    styles.push(styleIn(sheet.subarray(at + 2, at + 2 + size), fixed))
    at += 2 + size + (size % 2)
  }
  return styles
}

/** A style begins with its fixed part and its name; the formats of its characters follow. */
const styleIn = (style: Buffer, fixed: number): Style | null => {
  if (style.length < fixed + 2 || fixed < 4) return null
  const kind = style.readUInt16LE(2)
  if ((kind & 15) !== characterStyle) return null
  const formats = fixed + 4 + 2 * style.readUInt16LE(fixed)
  let hides: number | null = null
  if (formats + 2 <= style.length)
    for (const { change, value } of changesOf(style, formats + 2, formats + 2 + style.readUInt16LE(formats)))
      if (change === hide) hides = value
  return { before: kind >> 4, hides }
}
