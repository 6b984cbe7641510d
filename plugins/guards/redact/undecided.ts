import { longestCard } from './card.ts'
import { longestIban } from './iban.ts'

/** Characters of a run without blanks that is held back as a whole: no value but a private key is longer. */
const longestRun = 8_448
/** In characters, with the lines of both ends. */
const longestPem = 17_000

/** A character that may stand inside of an address or a key. */
const run = /[A-Za-z0-9._%+\-@:/=~]/

/** The end of a text that may still become a value, or still become none. */
export const undecidedValue = (text: string): number => Math.min(runStart(text), numberStart(text), pemStart(text))

/** A run without blanks may be the beginning of an address or of a key. A longer run is none. */
const runStart = (text: string): number => {
  let at = text.length
  while (at > 0 && run.test(text[at - 1]!)) at--
  return text.length - at > longestRun ? text.length : at
}

/**
 * Groups of a number may follow. One digit more than the longest card is enough: a card that begins earlier has all its
 * digits here.
 */
const numberStart = (text: string): number => {
  const end = text.slice(-longestIban)
  const from = text.length - end.length
  const digits = /(?<![A-Za-z0-9])(?:\d+[ -])*\d*\.?$/.exec(end)
  let card = end.length
  if (digits !== null) {
    const groups = [...digits[0].matchAll(/\d+/g)]
    let count = 0
    for (const { 0: group, index } of groups.toReversed()) {
      if (count > longestCard) break
      count += group.length
      card = digits.index + index
    }
  }
  const iban = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9])*? ?$/.exec(end)
  const account = iban === null ? end.length : end.length - iban[0].length
  return from + Math.min(card, account)
}

/** From the first hyphen of a private key that has no end yet. */
const pemStart = (text: string): number => {
  const begin = text.lastIndexOf('-----BEGIN')
  if (begin < 0 || text.length - begin > longestPem) return text.length
  const rest = text.slice(begin)
  const isOpen = /^-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/.test(rest)
    ? !/-----END [A-Z ]{0,40}PRIVATE KEY-----/.test(rest)
    : /^-----BEGIN[A-Z ]{0,60}-{0,5}$/.test(rest)
  return isOpen ? begin : text.length
}
