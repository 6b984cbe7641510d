const consonants = '[^aeiou][^aeiouy]*'
const vowels = '[aeiouy][aeiou]*'
/** Measures of a stem by Porter's count: the number of vowel groups followed by a consonant group. */
const once = new RegExp(`^(?:${consonants})?${vowels}${consonants}`)
const exactlyOnce = new RegExp(`^(?:${consonants})?${vowels}${consonants}(?:${vowels})?$`)
const twice = new RegExp(`^(?:${consonants})?${vowels}${consonants}${vowels}${consonants}`)
const voiced = new RegExp(`^(?:${consonants})?[aeiouy]`)
const short = new RegExp(`^${consonants}[aeiouy][^aeiouwxy]$`)

/** The stem of an English word by Porter's algorithm of 1980. The stem may be no word, but all forms share it. */
export const stem = (word: string): string => {
  if (word.length < 3) return word
  let stem = withoutPlural(word)
  stem = withoutTense(stem)
  if (stem.endsWith('y') && voiced.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`
  stem = replaced(stem, derived)
  stem = replaced(stem, nominal)
  return withoutE(withoutSuffix(stem))
}

/** Step 1a of the algorithm. */
const withoutPlural = (word: string): string => {
  if (/(?:ss|i)es$/.test(word)) return word.slice(0, -2)
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word
}

/** Step 1b: `-eed`, `-ed` and `-ing`. */
const withoutTense = (word: string): string => {
  if (word.endsWith('eed')) return once.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  const rest = /^(.+?)(?:ed|ing)$/.exec(word)?.[1]
  if (rest === undefined || !voiced.test(rest)) return word
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1)
  return short.test(rest) ? `${rest}e` : rest
}

type Endings = readonly (readonly [ending: string, left: string])[]

/** A longer ending comes before its own suffix. */
const derived: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]

/** Step 3; `derived` is step 2. */
const nominal: Endings = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

/** The first ending that fits decides, also when its stem is too short. */
const replaced = (word: string, endings: Endings): string => {
  const found = endings.find(([ending]) => word.endsWith(ending))
  if (found === undefined) return word
  const rest = word.slice(0, -found[0].length)
  return once.test(rest) ? rest + found[1] : word
}

const suffix = /^(.+?)(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/

/** Step 4: an ending goes only from a stem that is long enough. */
const withoutSuffix = (word: string): string => {
  const rest = suffix.exec(word)?.[1]
  return rest !== undefined && twice.test(rest) ? rest : word
}

/** Step 5: a last `e`, and one of two last `l`. */
const withoutE = (word: string): string => {
  const rest = word.slice(0, -1)
  if (word.endsWith('e')) return twice.test(rest) || (exactlyOnce.test(rest) && !short.test(rest)) ? rest : word
  return word.endsWith('ll') && twice.test(word) ? rest : word
}
