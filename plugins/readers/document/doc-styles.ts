import { changesOf, listAt } from './doc-formats.ts'

/** A change of a character's format that hides it. */
export const hide = 0x083c

/**
 * A change of 0 or 1 stands for itself, and 128 takes what the style says. Word writes 129, the opposite of the style,
 * for words that are shown in a paragraph whose style hides it.
 */
export const switched = (value: number, inherited: boolean): boolean => (value === 0x80 ? inherited : value === 1)

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
export const hidingStyles = (main: Buffer, table: Buffer): ((style: number) => boolean) => {
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
