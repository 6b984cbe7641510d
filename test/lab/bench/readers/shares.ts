/** The texts of one file by reader; null where a reader gave none. */
export type Texts = Readonly<Record<string, string | null>>

export interface Shares {
  readonly words: number
  /** Of runs of five words. */
  readonly runs: number
}

const run = 5

/** Fewer agreed words say little about a reader. */
const fewest = 5

export type Within = 'text' | 'line' | 'cell'

const piecesOf = (text: string, within: Within): readonly string[] =>
  within === 'text' ? [text] : (within === 'cell' ? alike(text) : text).split('\n')

/**
 * The share of what at least two others agree on that each reader has; null where no two others agree. A word counts as
 * often as the second of the others has it. Runs of sheets end with their line, and values of cells have one form.
 */
export const sharesOf = (texts: Texts, within: Within): Readonly<Record<string, Shares | null>> => {
  const words = Object.entries(texts).map(([name, text]) => {
    const pieces = text === null ? null : piecesOf(text, within)
    return [name, pieces?.map(wordsOf) ?? null] as const
  })
  const shares = words.map(([name, own]) => {
    const others = words.flatMap(([other, lists]) => (other === name || lists === null ? [] : [lists]))
    const share = (length: number) =>
      shareOf(
        counted(own ?? [], length),
        others.map((lists) => counted(lists, length)),
      )
    const ofWords = share(1)
    return [name, ofWords === null ? null : { words: ofWords, runs: share(run) ?? ofWords }] as const
  })
  return Object.fromEntries(shares)
}

/**
 * Words in lower case; a character of a script without spaces is a word, and so is a number, however it is written. The
 * name of a line break, which some programs leave in the text of an xlsx, is none.
 */
export const wordsOf = (text: string): readonly string[] =>
  (
    text
      .normalize('NFKC')
      .replace(/\u00ad/g, '')
      .replace(directory, ' ')
      .replace(midnight, '$1')
      .replace(moment, '$1')
      .replace(/(\d)T(?=\d\d:)/g, '$1 ')
      .replace(/_x000d_/gi, ' ')
      .replace(/(\d),(?=\d{3}(?!\d))/g, '$1')
      .toLowerCase()
      .match(
        /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\d+\.\d+(?:e[-+]?\d+)?(?![\p{L}\d.])|[\p{L}\p{N}\p{M}]+/gu,
      ) ?? []
  )
    .filter((word) => word.length <= longest)
    .map((word) => (/^\d+\.\d|^\d{13,}$/.test(word) ? String(Number(Number(word).toPrecision(digits))) : word))

/** In characters: what is longer is a picture in hex, and no word. */
const longest = 50

/**
 * The text of sheets with the values of cells in one form. An .xls has two other readers. They print truth values as
 * numbers, and dates in the order of a language, so that parts of two wrong dates agree.
 */
const alike = (text: string): string =>
  text
    .replace(/(?<![\p{L}\d])(true|false)(?![\p{L}\d])/giu, (word) => (word.toLowerCase() === 'true' ? '1' : '0'))
    .replace(dated, (_, ...parts: readonly (string | undefined)[]) => {
      const [year, month, day] = parts[0] === undefined ? [parts[6], parts[3], parts[5]] : parts
      const century = year!.length > 2 ? '' : Number(year) < firstOfLast ? '20' : '19'
      return ` day${century}${year}${month!.padStart(2, '0')}${day!.padStart(2, '0')} `
    })

/** A date as ISO 8601, without a time or with one, or as Americans write it. */
const dated =
  /(?<![\d.\/-])(?:(\d{4})-(\d\d)-(\d\d)(?:[T ]00:00:00(?:\.0+)?|T(?=\d))?|(\d\d?)([-/])(\d\d?)\5(\d{4}|\d\d))(?![\d\/-])/g

/** Spreadsheets take two digits of a year from here on for one of the last century. */
const firstOfLast = 30

/** Programs print from 12 to 17 digits of one and the same number. */
const digits = 12

/** A date without a time, as some programs print it. */
const midnight = /(\d{4}-\d{2}-\d{2})[ T]00:00:00(?:\.0+)?/g

/** A time with parts of a second and its zone, which other programs leave out. */
const moment = /(T\d\d:\d\d:\d\d)\.\d+Z/g

/** The place of a person in the directory of a company, which some programs print in the place of a mail address. */
const directory = /\/o=[^\n"<>]*\/cn=[^\n"<>]*/gi

type Counts = ReadonlyMap<string, number>

const counted = (pieces: readonly (readonly string[])[], length: number): Counts => {
  const counts = new Map<string, number>()
  for (const words of pieces)
    for (let at = 0; at + length <= words.length; at++) {
      const key = words.slice(at, at + length).join(' ')
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  return counts
}

const shareOf = (own: Counts, others: readonly Counts[]): number | null => {
  let agreed = 0
  let had = 0
  for (const key of new Set(others.flatMap((counts) => [...counts.keys()]))) {
    const second = others.map((counts) => counts.get(key) ?? 0).sort((one, other) => other - one)[1] ?? 0
    agreed += second
    had += Math.min(second, own.get(key) ?? 0)
  }
  return agreed < fewest ? null : had / agreed
}
