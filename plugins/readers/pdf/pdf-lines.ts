import { isPower } from '../shared/powers.ts'

/** A piece of text on a page, with its place in points. */
export interface Item {
  readonly str: string
  readonly hasEOL: boolean
  readonly width: number
  readonly height: number
  /** The last two numbers are the place of its beginning; the second and third are zero for upright text. */
  readonly transform: readonly number[]
}

/** Parts of a text's height: a wider gap parts words, and a greater difference of height parts lines. */
const gap = { word: 0.25, line: 0.5 } as const

/** Joins pieces in the order of the file. Pieces that stand apart on the page stay apart in the text. */
export const joinItems = () => {
  let last: Item | null = null
  return (item: Item): string => {
    const between = last === null ? '' : betweenOf(last, item)
    // An empty piece only marks the end of a line, and its place means nothing.
    if (item.hasEOL) last = null
    else if (item.str !== '') last = item
    return between + (item.hasEOL ? `${item.str}\n` : item.str)
  }
}

/** A new line where the height changes, a blank where a gap or a step back separates the pieces, a sign before a power. */
const betweenOf = (last: Item, { str, transform, height }: Item): string => {
  if (str === '' || /\s$/.test(last.str) || /^\s/.test(str) || !isUpright(last.transform) || !isUpright(transform))
    return ''
  if (isDropCap(last, { str, height, transform })) return ''
  const size = Math.max(height, last.height)
  const [x = 0, y = 0] = transform.slice(4)
  const [left = 0, base = 0] = last.transform.slice(4)
  const far = x - (left + last.width)
  if (isRaised(y - base, height, last.height) && Math.abs(far) < size * gap.word && isPower(last.str, str)) return '^'
  if (Math.abs(y - base) > size * gap.line) return '\n'
  return far > size * gap.word || x < left - size ? ' ' : ''
}

/** A superscript is smaller, and begins above the foot of its line but below the head. */
const isRaised = (rise: number, height: number, whole: number): boolean =>
  height < whole * 0.9 && rise > whole * 0.15 && rise < whole * 0.65

/** A capital over two lines or more: its height in those of the text beside it. */
const leastDrop = 1.8
/** Parts of the text's height: the widest gap before the rest of a word. */
const capGap = { sure: 0.6, word: 0.15 } as const
/** Letters that are words of their own in some language: only a narrow gap joins them. */
const isWord = /[AEIOUYÀÈÉÓÚKSVWZ]|\p{Script=Cyrillic}/u

/** True for a capital that hangs beside the lines of a paragraph, before the rest of its word in the first line. */
const isDropCap = (cap: Item, { str, height, transform }: Pick<Item, 'str' | 'height' | 'transform'>): boolean => {
  if (!/^["'“„‘«]?\p{Lu}$/u.test(cap.str) || !/^\p{L}['’\p{L} ]/u.test(str) || cap.height < height * leastDrop)
    return false
  const [x = 0, y = 0] = transform.slice(4)
  const [left = 0, base = 0] = cap.transform.slice(4)
  const rise = y - base
  const far = x - (left + cap.width)
  const most = height * (isWord.test(cap.str) ? capGap.word : capGap.sure)
  return rise > height * 0.8 && rise + height * 0.5 < cap.height && far > -height && far <= most
}

const isUpright = ([, one, other]: readonly number[]): boolean => one === 0 && other === 0
