import type { Encoding } from '../../core/ports/file-content.ts'
import * as l from './alphabets.ts'
import type { Alphabet } from './alphabets.ts'
import { withHongKong } from './hong-kong.ts'

/** In bytes: the examined part of a text. */
const longestSample = 65_536

/**
 * The encoding of a text without a mark that is not UTF-8: the encoding in which the text looks most like a language.
 * Windows-1252 with confidence 0 when no encoding fits.
 */
export const detectEncoding = (bytes: Uint8Array): Encoding => {
  const sample = telling(bytes)
  const beyond = sample.filter((byte) => byte > 0x7f).length
  const paired = isPaired(sample)
  const scored = candidates
    .filter(([, [alphabet]]) => !paired || alphabet?.script === 'wide')
    .flatMap(([names, alphabets]) => names.split(' ').map((name) => ({ name, alphabets })))
    .map(({ name, alphabets }) => {
      // Characters of UTF-16 begin at even positions.
      const score = scoreOf(name.startsWith('utf-16') ? bytes.subarray(0, longestSample) : sample, name, alphabets)
      return { name, score: name === 'windows-1252' ? score + benefit / beyond : score }
    })
    .sort((one, other) => other.score - one.score)
  const [best, next] = scored
  if (best === undefined || next === undefined || best.score <= 0) return { name: 'windows-1252', confidence: 0 }
  // Two encodings of one script may agree in every letter of a text.
  const lead = Math.min(1, (best.score - next.score) * 5)
  const sure = Math.min(0.99, Math.min(1, best.score) * (0.6 + 0.4 * lead) * (beyond / (beyond + 2)))
  return { name: best.name, confidence: Number(sure.toFixed(2)) }
}

/** So many words are never all of an even length by chance, and one in so many may be odd. */
const fewestWords = 10
const oddOnes = 20

/** Whether the words beyond ASCII consist of pairs of bytes, as names in Chinese or Korean do. */
const isPaired = (sample: Uint8Array): boolean => {
  const text = Buffer.from(sample).toString('latin1')
  const words = text.match(/[\x80-\xff]+/g) ?? []
  const odd = words.filter(({ length }) => length % 2 !== 0).length
  return words.length >= fewestWords && odd * oddOnes <= words.length
}

/** The advantage of the commonest encoding, divided by the number of telling bytes: few bytes prove little. */
const benefit = 2

/** The parts of a text with bytes beyond ASCII, up to the sample's length. */
const telling = (bytes: Uint8Array): Uint8Array => {
  const first = bytes.findIndex((byte) => byte > 0x7f)
  if (first < longestSample / 2) return bytes.subarray(0, longestSample)
  const line = bytes.lastIndexOf(10, first) + 1
  const from = first - line > longestSample / 2 ? first : line
  return bytes.subarray(from, from + longestSample)
}

const western = [l.german, l.french, l.iberian, l.italian, l.nordic, l.icelandic]
const central = [l.polish, l.czech, l.hungarian, l.romanian, l.croatian, l.german]
const baltic = [l.lithuanian, l.latvian, l.estonian]
const cyrillic = [l.russian, l.ukrainian]

/** The names of encodings with their alphabets. Of two encodings with equal results, the earlier one counts. */
const candidates: readonly (readonly [string, readonly Alphabet[]])[] = [
  ['windows-1252 iso-8859-15', western],
  ['windows-1250 iso-8859-2', central],
  ['windows-1254', [l.turkish]],
  ['windows-1257 iso-8859-13 iso-8859-4', baltic],
  ['windows-1258', [l.vietnamese]],
  ['macintosh', western],
  ['windows-1251 koi8-u koi8-r ibm866 iso-8859-5 x-mac-cyrillic', cyrillic],
  ['windows-1253 iso-8859-7', [l.greek]],
  ['windows-1255 iso-8859-8', [l.hebrew]],
  ['windows-1256', [l.arabic, l.persian]],
  ['iso-8859-6', [l.arabic]],
  ['windows-874', [l.thai]],
  ['shift_jis euc-jp', [l.japanese]],
  ['gb18030', [l.simplified]],
  ['big5', [l.traditional]],
  ['euc-kr', [l.korean]],
  ['utf-16le utf-16be', [l.japanese, l.simplified, l.traditional, l.korean]],
]

/** From below 0 to 1: how well the text fits its best language. */
const scoreOf = (sample: Uint8Array, name: string, alphabets: readonly Alphabet[]): number => {
  const text = decoded(sample, name)
  if (text === null) return -1
  return Math.max(...alphabets.map((alphabet) => likeness(text, alphabet)))
}

/** Null when bytes have no meaning in the encoding. A character cut by the end of the sample is tolerated. */
const decoded = (sample: Uint8Array, name: string): string | null => {
  const text = decodeAs(sample, name)
  const broken = text.match(/[\ufffd\x80-\x84\x86-\x9f]/g)?.length ?? 0
  return broken > Math.max(1, text.length / 500) ? null : text
}

/** At most 1, where all characters beyond ASCII fit; below 0 where most are odd; 0 where none stand. */
const likeness = (text: string, { script, letters, frequent }: Alphabet): number => {
  let [seen, fit, odd] = [0, 0, 0]
  // In windows-1258, accents follow their letters.
  for (const word of text.normalize('NFC').match(/[^\s\x21-\x40\x5b-\x60\x7b-\x7f]+/g) ?? []) {
    const strange = [...word].filter((character) => character > '\x7f')
    if (strange.length === 0) continue
    const ascii = word.length - strange.length
    for (const [at, character] of strange.entries()) {
      if (quiet.test(character)) continue
      seen++
      if (!isLetter.test(character)) odd += wideSigns.test(character) && script === 'wide' ? 0 : 1
      // A lone rare character in a word of Latin letters is a letter of another encoding.
      else if (script === 'wide' && ascii > 0 && strange.length === 1 && !frequent.has(character)) odd++
      else if (script === 'wide') fit += frequent.has(character) ? 1 : common.test(character) ? 0.3 : -1
      else if (!letters.has(character)) odd++
      else if (script === 'other') fit += ascii > 0 ? -0.5 : frequent.has(character.toLowerCase()) ? 1 : 0.4
      // No language has words of accented letters only.
      else fit += strange.length > 3 && ascii < strange.length ? -0.5 : 1
      const before = strange[at - 1] ?? ''
      if (isCapital(character) && !isCapital(before) && isLetter.test(before)) odd += 0.5
    }
  }
  return seen === 0 ? 0 : (fit - 2 * odd) / seen
}

/** Print characters of all languages. */
const quiet = /[\u2010-\u203a\xa0\xab\xbb\xa9\xae\xb0\xb7\xa7\xbf\xa1€™№¢£¥µ²³]/
const wideSigns = /[\u3000-\u303f\uff00-\uff65\u30fb]/
const isLetter = /[\p{L}\p{M}]/u
/** Common Chinese characters and Hangul, by their Unicode ranges. */
const common = /[\u4e00-\u9fff\uac00-\ud7a3]/
const isCapital = (character: string): boolean => character !== character.toLowerCase()

// The characters 0x80 to 0x9f of windows-1252, which Node 20 decodes as ISO 8859-1.
const late = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Decodes bytes of an encoding that Node knows. Throws RangeError for an unknown encoding. */
export const decodeAs = (bytes: Uint8Array, name: string): string => {
  const decoder = new TextDecoder(name)
  // The same characters as browsers read; Node has fewer under this name.
  const text = (decoder.encoding === 'gbk' ? new TextDecoder('gb18030') : decoder).decode(bytes)
  if (decoder.encoding === 'big5') return withHongKong(text)
  if (decoder.encoding !== 'windows-1252') return text
  return text.replace(/[\x80-\x9f]/g, (character) => late.charAt(character.charCodeAt(0) - 0x80))
}
