/** Most words: nothing else in them needs to be folded. */
const plain = /^[a-z]+$/

/** A word without case, accents and points. Letters and digits with several shapes get one. */
export const folded = (raw: string): string => {
  const lower = raw.toLowerCase()
  if (plain.test(lower)) return lower
  return lower
    .normalize('NFKD')
    .replace(marks, '')
    .normalize('NFC')
    .replace(shaped, (letter) => shapes[letter] ?? letter)
    .replace(arabicDigit, (digit) => String(digit.charCodeAt(0) & 0xf))
}

/** The accents of Latin, Greek and Cyrillic, the points of Hebrew, and the vowel signs and the stretch of Arabic. */
const marks = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]/g

/** Letters that Unicode does not take apart, by the letters that people type for them. */
const shapes: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  ς: 'σ',
  '\u0671': '\u0627',
  '\u0649': '\u064a',
  '\u06cc': '\u064a',
  '\u06a9': '\u0643',
  '\u0629': '\u0647',
}

const shaped = new RegExp(`[${Object.keys(shapes).join('')}]`, 'g')
const arabicDigit = /[\u0660-\u0669\u06f0-\u06f9]/g
