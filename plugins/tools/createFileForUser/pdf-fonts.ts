import { Refused, type Run } from './content.ts'

/** Fonts that every reader of PDF brings, by the names that pages call them. */
export const fonts = {
  F0: 'Helvetica',
  F1: 'Helvetica-Bold',
  F2: 'Helvetica-Oblique',
  F3: 'Helvetica-BoldOblique',
  F4: 'Courier',
} as const

/** The name by which pages call a font. */
export type Font = keyof typeof fonts

/** Code has one face alone: bold and italic do not show in it. */
export const fontOf = ({ bold, italic, code }: Run): Font => {
  if (code) return 'F4'
  if (bold) return italic ? 'F3' : 'F1'
  return italic ? 'F2' : 'F0'
}

/** Thousandths of the letter size, of the codes from 32 to 255 of Windows-1252. */
const plain = widthsOf(
  '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584 0 556 0 222 556 333 1000 556 556 333 1000 667 333 1000 0 611 0 0 222 222 333 333 350 556 1000 333 1000 500 333 944 0 500 667 278 333 556 556 556 556 260 556 333 737 370 556 584 333 737 333 400 584 333 333 333 578 537 278 333 333 365 556 834 834 834 611 667 667 667 667 667 667 1000 722 667 667 667 667 278 278 278 278 722 722 778 778 778 778 778 584 778 722 722 722 722 667 667 611 556 556 556 556 556 556 889 500 556 556 556 556 278 278 278 278 556 556 556 556 556 556 556 584 611 556 556 556 556 500 556 500',
)
const bold = widthsOf(
  '278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584 0 556 0 278 556 500 1000 556 556 333 1000 667 333 1000 0 611 0 0 278 278 500 500 350 556 1000 333 1000 556 333 944 0 500 667 278 333 556 556 556 556 280 556 333 737 370 556 584 333 737 333 400 584 333 333 333 611 556 278 333 333 365 556 834 834 834 611 722 722 722 722 722 722 1000 722 667 667 667 667 278 278 278 278 722 722 778 778 778 778 778 584 778 722 722 722 722 667 667 611 556 556 556 556 556 556 889 556 556 556 556 556 278 278 278 278 611 611 611 611 611 611 611 584 611 611 611 611 611 556 611 556',
)

function widthsOf(list: string): readonly number[] {
  return list.split(' ').map(Number)
}

/** Thousandths of the letter size, which all letters of Courier take. */
const courier = 600

/** The width of codes in thousandths of the letter size. */
export const widthOf = (codes: string, font: Font): number => {
  if (font === 'F4') return courier * codes.length
  const widths = font === 'F1' || font === 'F3' ? bold : plain
  let sum = 0
  for (let at = 0; at < codes.length; at++) sum += widths[codes.charCodeAt(at) - 32] ?? 0
  return sum
}

/** Signs that look the same as one of Windows-1252. */
const alike: Readonly<Record<string, string>> = {
  '\u2010': '-',
  '\u2011': '-',
  '\u2012': '–',
  '\u2015': '—',
  '\u2212': '-',
  '\u2002': ' ',
  '\u2003': ' ',
  '\u2009': ' ',
  '\u200a': ' ',
  '\u202f': '\u00a0',
  '\t': '    ',
  '\u25e6': '•',
  '\u25aa': '•',
}

/** The signs of the codes from 128 to 159; a space where there is none. Decoders of some versions of Node take these for controls. */
const upper = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'
const codeOf = new Map(Array.from(upper, (sign, at) => [sign, String.fromCharCode(128 + at)] as const))

/** The codes of a text, a character each. Throws Refused for a text with others than these fonts have. */
export const codesOf = (text: string): string =>
  text
    .replace(/[\u00ad\u200b-\u200f\u2060]/g, '')
    .replace(/[\t\u2002\u2003\u2009\u200a\u2010-\u2012\u2015\u202f\u2212\u25aa\u25e6]/g, (sign) => alike[sign] ?? '')
    .replace(/[^\x20-\x7e\xa0-\xff]/gu, (sign) => {
      const code = codeOf.get(sign)
      if (code === undefined) throw new Refused('characters')
      return code
    })
