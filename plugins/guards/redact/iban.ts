/** Characters of an IBAN by country, of the registry of ISO 13616. */
const lengths: Readonly<Record<string, number>> = {
  ...{ AD: 24, AE: 23, AL: 28, AT: 20, AZ: 28, BA: 20, BE: 16, BG: 22, BH: 22, BR: 29, BY: 28, CH: 21, CR: 22, CY: 28 },
  ...{ CZ: 24, DE: 22, DK: 18, DO: 28, EE: 20, EG: 29, ES: 24, FI: 18, FO: 18, FR: 27, GB: 22, GE: 22, GI: 23, GL: 18 },
  ...{ GR: 27, GT: 28, HR: 21, HU: 28, IE: 22, IL: 23, IQ: 23, IS: 26, IT: 27, JO: 30, KW: 30, KZ: 20, LB: 28, LC: 32 },
  ...{ LI: 21, LT: 20, LU: 20, LV: 21, LY: 25, MC: 27, MD: 24, ME: 22, MK: 19, MR: 27, MT: 31, MU: 30, NL: 18, NO: 15 },
  ...{ PK: 24, PL: 28, PS: 29, PT: 25, QA: 29, RO: 24, RS: 22, SA: 24, SC: 31, SD: 18, SE: 24, SI: 19, SK: 24, SM: 27 },
  ...{ ST: 25, SV: 28, TL: 23, TN: 24, TR: 26, UA: 29, VA: 22, VG: 24, XK: 20 },
}

/** Characters of the longest one, its blanks included. */
export const longestIban = 46

/** The end of the IBAN that begins here, single spaces between its characters allowed; null when none does. */
export const ibanEnd = (text: string, from: number): number | null => {
  const length = lengths[text.slice(from, from + 2).toUpperCase()]
  if (length === undefined) return null
  let iban = ''
  let at = from
  for (; iban.length < length && at - from < longestIban; at++) {
    const mark = text[at]
    if (mark === ' ' && text[at - 1] !== ' ') continue
    if (mark === undefined || !/[A-Za-z0-9]/.test(mark)) return null
    iban += mark
  }
  return iban.length < length || /[A-Za-z0-9]/.test(text[at] ?? '') || !hasChecksum(iban.toUpperCase()) ? null : at
}

/** Letters count from 10, and the number modulo 97 is 1. */
const hasChecksum = (iban: string): boolean => {
  let rest = 0
  for (const mark of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(mark, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
