import type { Language } from './common-words.ts'

/** Endings and what stands in their place. */
type Step = readonly (readonly [ending: RegExp, instead: string])[]

interface LightStem {
  /** The letters of the language. */
  readonly letters: RegExp
  /** One after the other; of each step the first ending that fits. */
  readonly steps: readonly Step[]
}

/** Folded words have no accents left. */
const latin = /^[a-z]+$/

/**
 * Endings of nouns and adjectives, after the light stemmers of Savoy and, for Arabic, of Larkey. What stays has at
 * least three letters, and two in Arabic. Words come folded, without accents.
 */
const stems: Readonly<Record<Exclude<Language, 'en'>, LightStem>> = {
  de: {
    letters: latin,
    steps: [
      [[/(?<=...)(?:er[ns]|e[mnrs]|e)$|(?<=..[bdfghklmnt])s$/, '']],
      [[/(?<=...)(?:est|e[nr])$|(?<=..[bdfghklmnt])st$/, '']],
    ],
  },
  nl: {
    letters: latin,
    steps: [
      [
        [/(?<=...)heden$/, 'heid'],
        [/(?<=...)(?:en|e)$|(?<=..[^aeiouj])s$/, ''],
      ],
      [[/([bdfgklmnprst])\1$/, '$1']],
      [
        [/v$/, 'f'],
        [/z$/, 's'],
      ],
      [[/([^aeiou])([aeou])\2([^aeiou])$/, '$1$2$3']],
    ],
  },
  fr: {
    letters: latin,
    steps: [
      [
        [/(?<=.)eaux$/, 'eau'],
        [/(?<=..)aux$/, 'al'],
      ],
      [[/(?<=...)(?:e{0,2}r?s?|x)$/, '']],
      [[/nn$/, 'n']],
    ],
  },
  es: {
    letters: latin,
    steps: [
      [
        [/(?<=...)eses$/, ''],
        [/(?<=..)ces$/, 'z'],
        [/(?<=...)[aeo]s?$/, ''],
      ],
    ],
  },
  it: { letters: latin, steps: [[[/(?<=...)(?:[hi]e|[hi]i|i[ao]|[aeio])$/, '']]] },
  pt: {
    letters: latin,
    steps: [
      [
        [/(?<=...)eses$/, ''],
        [/(?<=..)(?:oes|aes|aos)$/, 'ao'],
        [/(?<=..)([aeo])is$/, '$1l'],
        [/(?<=..)(?:ens)$/, 'em'],
        [/(?<=..)([aiou])ns$/, '$1m'],
        [/(?<=..[lrz])es$/, ''],
        [/(?<=...)s$/, ''],
      ],
      [[/(?<=...)[aeo]$/, '']],
    ],
  },
  ru: {
    letters: /^[а-я]+$/,
    steps: [
      [
        [
          /(?<=...)(?:иями|оями|иям|иях|оях|ями|оям|ами|его|ему|ери|ими|ого|ому|ыми|оев|ая|яя|ях|юю|ах|ею|их|ия|ию|ою|ую|ям|ых|ея|ам|ем|еи|ев|ии|им|ое|ои|ом|ов|ые|ыи|ым|ми|[аеоуиыюяь])$/,
          '',
        ],
      ],
      [
        [/(?<=...)[ьи]$/, ''],
        [/нн$/, 'н'],
      ],
    ],
  },
  ar: {
    letters: /^[\u0621-\u064a]+$/,
    steps: [
      [
        [/^(?:وال|بال|كال|فال|لل|ال)(?=..)/, ''],
        [/^و(?=...)/, ''],
      ],
      [[/(?<=..)(?:ها|ان|ات|ون|ين|يه)$/, '']],
      [[/(?<=..)[هي]$/, '']],
    ],
  },
}

/** The stem of a folded word; null when the word has letters of another language. */
export const lightStem = (language: Exclude<Language, 'en'>, word: string): string | null => {
  const { letters, steps } = stems[language]
  if (!letters.test(word)) return null
  let stem = word
  for (const step of steps) {
    const found = step.find(([ending]) => ending.test(stem))
    if (found !== undefined) stem = stem.replace(found[0], found[1])
  }
  return stem
}
