import { matchesFrom } from '../shared/piecewise.ts'

/** Digits of the longest number. */
export const longestCard = 19
const shortestCard = 13

/** Groups of digits with single spaces or hyphens between them. A fraction is no number of a card. */
const groups = /(?<![\w.])\d+(?:[ -]\d+)*/g
const group = /\d+/g

/** A place in a text; `to` lies behind the last character. */
export interface Found {
  readonly from: number
  readonly to: number
}

/** Numbers that pass the check of Luhn, made of whole groups. */
export function* cardsIn(text: string, start: number): Generator<Found, undefined> {
  for (const { 0: row, index: at } of matchesFrom(groups, text, start)) {
    if (row.length < shortestCard) continue
    const parts = [...row.matchAll(group)].map(({ 0: digits, index }) => ({ digits, from: at + index }))
    for (let first = 0; first < parts.length; first++) {
      const last = lastOf(parts, first, text)
      if (last === null) continue
      const { digits, from } = parts[last]!
      yield { from: parts[first]!.from, to: from + digits.length }
      first = last
    }
  }
}

/** The last group of the longest card that begins with this group; null when none does. */
const lastOf = (parts: readonly { readonly digits: string; readonly from: number }[], first: number, text: string) => {
  let number = ''
  let best: number | null = null
  for (let last = first; last < parts.length && number.length < longestCard; last++) {
    const { digits, from } = parts[last]!
    number += digits
    const next = text.slice(from + digits.length, from + digits.length + 2)
    if (isCard(number) && !/^(?:\w|\.\d)/.test(next)) best = last
  }
  return best
}

/** Issuers of cards begin with 2 to 6; times in ms begin with 1. */
const isCard = (number: string): boolean => {
  if (number.length < shortestCard || number.length > longestCard || !/^[2-6]/.test(number)) return false
  let sum = 0
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at])
    sum += at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}
