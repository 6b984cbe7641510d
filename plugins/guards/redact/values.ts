import { isIPv6 } from 'node:net'
import { matchesFrom } from '../shared/piecewise.ts'
import { cardsIn, type Found } from './card.ts'
import { ibanEnd } from './iban.ts'

/** Where two kinds find the same characters, the earlier kind counts. */
export const kinds = ['card', 'iban', 'key', 'email', 'ip'] as const

export type Kind = (typeof kinds)[number]

export interface Value extends Found {
  readonly kind: Kind
}

/** A private key as PEM. The look for its end stops at the next beginning, so that many beginnings take no longer than one. */
const pem =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,16384}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g

/** Keys of well-known services by their beginnings, and signed tokens. */
const key = new RegExp(
  `(?<![A-Za-z0-9_])(?:${[
    'sk-[A-Za-z0-9_-]{16,512}',
    '[sprw]k_(?:live|test)_[A-Za-z0-9_-]{10,512}',
    'gh[oprsu]_[A-Za-z0-9]{20,255}',
    'github_pat_[A-Za-z0-9_]{20,255}',
    'glpat-[A-Za-z0-9_-]{16,255}',
    'xox[abeoprs]-[A-Za-z0-9-]{10,255}',
    '(?:AKIA|ASIA)[A-Z0-9]{16}',
    'AIza[A-Za-z0-9_-]{35}',
    'hf_[A-Za-z0-9]{20,255}',
    'npm_[A-Za-z0-9]{20,255}',
    'eyJ[A-Za-z0-9_-]{8,2048}\\.[A-Za-z0-9_-]{8,4096}\\.[A-Za-z0-9_-]{8,2048}',
  ].join('|')})(?![A-Za-z0-9_])`,
  'g',
)

/** Each part has a longest length, so that a long text cannot make the search slow. */
const email = /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,63}(?![A-Za-z0-9])/g
/** A number from 0 to 255 without leading zeros. */
const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`(?<![\\w.])${byte}(?:\\.${byte}){3}(?![\\w]|\\.\\d)`, 'g')
/** Candidates only: Node's own check decides. */
const maybeIpv6 = /(?<![\w:.])[0-9A-Fa-f:]{3,39}(?:\.\d{1,3}){0,3}(?![\w:])/g
const maybeIban = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?= ?[A-Za-z0-9])/g

type Find = (text: string, start: number) => readonly Found[]

const spans =
  (pattern: RegExp): Find =>
  (text, start) =>
    matchesFrom(pattern, text, start).map(({ 0: found, index: from }) => ({ from, to: from + found.length }))

const finders: Readonly<Record<Kind, Find>> = {
  card: cardsIn,
  iban: (text, start) =>
    spans(maybeIban)(text, start).flatMap(({ from }) => {
      const to = ibanEnd(text, from)
      return to === null ? [] : [{ from, to }]
    }),
  key: (text, start) => [...spans(pem)(text, start), ...spans(key)(text, start)],
  email: spans(email),
  // A word such as `a::b` is an address only with a digit.
  ip: (text, start) => [
    ...spans(ipv4)(text, start),
    ...spans(maybeIpv6)(text, start).filter(({ from, to }) => {
      const found = text.slice(from, to)
      return /\d/.test(found) && isIPv6(found)
    }),
  ],
}

/** Values in their order. Of two overlapping values the earlier counts, and of two that begin together the longer. */
export const valuesIn = (text: string, start: number, wanted: ReadonlySet<Kind>): readonly Value[] => {
  const values: Value[] = []
  for (let at: number | null = start; at !== null;) {
    const all = kinds
      .filter((kind) => wanted.has(kind))
      .flatMap((kind) => finders[kind](text, at!).map((found): Value => ({ kind, ...found })))
      .sort((one, other) => one.from - other.from || other.to - one.to)
    at = takeUpToOverlap(all, values)
  }
  return values
}

/** The end of a value that lies over the next one: behind it the search begins anew. Null when none overlap. */
const takeUpToOverlap = (all: readonly Value[], into: Value[]): number | null => {
  let end = 0
  for (const value of all) {
    if (value.from < end) return end
    into.push(value)
    end = value.to
  }
  return null
}
