/** Letters of the Latin script that are no other letter with a mark. */
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'Ae', œ: 'oe', Œ: 'Oe', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L' },
  ...{ đ: 'd', Đ: 'D', ð: 'th', Ð: 'Th', þ: 'th', Þ: 'Th', ħ: 'h', Ħ: 'H', ŧ: 't', Ŧ: 'T', ı: 'i', ŋ: 'ng', Ŋ: 'Ng' },
}

/** How English says signs that the engine does not know. */
const signs: Readonly<Record<string, string>> = {
  ...{
    '€': ' euros ',
    '£': ' pounds ',
    '¥': ' yen ',
    '¢': ' cents ',
    '₹': ' rupees ',
    '₽': ' roubles ',
    '₿': ' bitcoin ',
  },
  ...{ '×': ' times ', '÷': ' divided by ', '±': ' plus or minus ', '−': ' minus ', '√': ' square root of ' },
  ...{ '≈': ' about ', '≤': ' at most ', '≥': ' at least ', '∞': ' infinity ', '∑': ' sum ', '‰': ' per mille ' },
  ...{ '→': ' to ', '⇒': ' then ', '°': ' degrees ', '§': ' section ', '¶': ' paragraph ', '©': ' copyright ' },
  ...{
    '®': ' registered ',
    '†': ' dagger ',
    '⁄': '/',
    '№': ' number ',
    µ: ' micro ',
    μ: ' micro ',
    Ω: ' ohm ',
    π: ' pi ',
  },
}

const asTyped: Readonly<Record<string, string>> = {
  ...{
    '‘': "'",
    '’': "'",
    '‛': "'",
    ʼ: "'",
    ʻ: "'",
    '‚': "'",
    '′': "'",
    '“': '"',
    '”': '"',
    '„': '"',
    '«': '"',
    '»': '"',
    '″': '"',
  },
  ...{ '‐': '-', '‑': '-', '‒': '-', '–': '-', '—': '-', '―': '-' },
}

const known = new Map(Object.entries({ ...letters, ...signs, ...asTyped }))

/** An element of SSML, whose names no other markup has. */
const markup = /<\/?\s*(?:speak|break|prosody|emphasis|say-as|phoneme)(?:\s[^<>]*)?\/?>/i

/** True where a text is SSML or has elements of it: the engine would speak them as words. */
export const hasSpeechMarkup = (text: string): boolean => markup.test(text)

/**
 * The text in the letters that the engine speaks. Null when a letter, digit or sign of another script would vanish. Signs
 * that all scripts share and that have no word here, such as pictographs, are pauses.
 */
export const speakable = (text: string): string | null => {
  const sayableText = [...text.normalize('NFC').replace(price, '$2$1')].map(sayable).join('')
  return sayableText.includes(foreign) ? null : sayableText.replace(/ +/g, ' ').trim()
}

/** The name of a currency is said behind its number. */
const price = /([€£¥₹₽]) ?(\d+(?:[.,]\d+)*)/gu

/** Stands where a character can't be said. No text has it: it belongs to no script. */
const foreign = '\uffff'

const sayable = (character: string): string => {
  if (character >= ' ' && character <= '~') return character
  const word = known.get(character)
  if (word !== undefined) return word
  const parts = [...character.normalize('NFKD')]
  if (parts.length > 1 || parts[0] !== character)
    return `${apart.test(character) ? ' ' : ''}${parts.map(sayable).join('')}`
  return spoken.test(character) || !shared.test(character) ? foreign : unsaid(character)
}

/** Fractions and raised digits, which are no digits of the number before them. */
const apart = /\p{No}/u

/** Letters and digits, which a listener would miss; and what belongs to all scripts. */
const spoken = /[\p{L}\p{N}]/u
const shared = /[\p{Script=Common}\p{Script=Inherited}]/u

/** Marks and hidden hyphens stand inside of words, which are said without them; all else is a pause. */
const unsaid = (character: string): string => (/[\p{M}\p{Cf}]/u.test(character) ? '' : ' ')
