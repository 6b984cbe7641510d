/** The files of WordNet as they are published: for each part of speech an index and its data, both of ASCII. */
export type WordNetFiles = Readonly<Record<PartOfSpeech, { readonly index: string; readonly data: string }>>

export type PartOfSpeech = 'n' | 'v' | 'a' | 'r'

/** A meaning: a part of speech, and where in its data the line begins. */
export type Meaning = `${PartOfSpeech}${string}`

export interface Pointer {
  readonly kind: string
  readonly to: Meaning
}

export interface WordNet {
  /** What a word means as each part of speech, the commonest first; none for a word that is not known. */
  meanings(word: string): readonly (readonly Meaning[])[]
  /** The words that have a meaning. */
  words(meaning: Meaning): readonly string[]
  pointers(meaning: Meaning): readonly Pointer[]
}

/** Looks things up where they stand: nothing is parsed before it is asked for. */
export const wordNetOf = (files: WordNetFiles): WordNet => {
  const lineAt = (meaning: Meaning): readonly [data: string, start: number] => [
    files[meaning[0] as PartOfSpeech].data,
    Number(meaning.slice(1)),
  ]
  return {
    meanings: (word) =>
      basesOf(word.toLowerCase()).flatMap((base) =>
        partsOfSpeech.flatMap((part) => {
          const line = lineOf(files[part].index, base)
          return line === null ? [] : [offsetsIn(line).map((offset): Meaning => `${part}${offset}`)]
        }),
      ),
    words(meaning) {
      const [data, start] = lineAt(meaning)
      return wordsAt(data, start).words
    },
    pointers(meaning) {
      const [data, start] = lineAt(meaning)
      return pointersAt(data, wordsAt(data, start).end)
    },
  }
}

const partsOfSpeech = ['n', 'v', 'a', 'r'] as const

/** `word part meanings kinds [kind …] meanings tagged offset …` */
const offsetsIn = (line: string): readonly string[] => {
  const fields = line.trimEnd().split(' ')
  return fields.slice(6 + Number(fields[3]))
}

/** How far into a line the number of its words is, in two hexadecimal digits: behind an offset, a file and a type. */
const front = 14

/** `offset file type words [word id …] pointers …` */
const wordsAt = (data: string, start: number): { readonly words: readonly string[]; readonly end: number } => {
  const words: string[] = []
  let at = start + front + 3
  for (let left = parseInt(data.slice(start + front, start + front + 2), 16); left > 0; left--) {
    const end = data.indexOf(' ', at)
    // Some adjectives say in brackets where they may stand.
    words.push(data.slice(at, end).replace(/\(.*$/, ''))
    at = data.indexOf(' ', end + 1) + 1
  }
  return { words, end: at }
}

/** `pointers [kind offset part fields …] …` */
const pointersAt = (data: string, start: number): readonly Pointer[] => {
  const count = Number(data.slice(start, start + 3))
  const pointers: Pointer[] = []
  for (let left = count, at = start + 4; left > 0; left--) {
    const end = data.indexOf(' ', at)
    // A satellite stands among the other adjectives.
    const part = data[end + 10] === 's' ? 'a' : data[end + 10]
    pointers.push({ kind: data.slice(at, end), to: `${part as PartOfSpeech}${data.slice(end + 1, end + 9)}` })
    at = end + 17
  }
  return pointers
}

/** The line that begins with a word; lines are in the order of their characters. */
const lineOf = (index: string, word: string): string | null => {
  const sought = `${word} `
  let low = 0
  for (let high = index.length; low < high;) {
    const middle = (low + high) >>> 1
    const start = index.lastIndexOf('\n', middle - 1) + 1
    const end = index.indexOf('\n', middle)
    if (index.slice(start, start + sought.length) < sought) low = end + 1
    else high = start
  }
  return index.startsWith(sought, low) ? index.slice(low, index.indexOf('\n', low)) : null
}

/** A word as it stands, and what it may be a form of: only what is known will be found. */
const basesOf = (word: string): readonly string[] => {
  const bases = endings.flatMap(([ending, base]) => (ending.test(word) ? [word.replace(ending, base)] : []))
  // What the files begin with stands behind an empty word.
  return [...new Set([word, ...bases])].filter((it) => it !== '')
}

const endings: readonly (readonly [RegExp, string])[] = [
  [/s$/, ''],
  [/(?<=[sxz]|[cs]h)es$/, ''],
  [/ie[sd]$/, 'y'],
  [/men$/, 'man'],
  [/(?:ed|ing|er|est)$/, ''],
  [/(?:es|ed|ing|er|est)$/, 'e'],
  [/([^aeiou])\1(?:ed|ing|er|est)$/, '$1'],
]
