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

type Find = (text: string, start: number) => Iterator<Found, undefined>

const spans = (pattern: RegExp) =>
  function* (text: string, start: number): Generator<Found, undefined> {
    for (const { 0: found, index: from } of matchesFrom(pattern, text, start)) yield { from, to: from + found.length }
  }

function* ibansIn(text: string, start: number): Generator<Found, undefined> {
  for (const { from } of spans(maybeIban)(text, start)) {
    const to = ibanEnd(text, from)
    if (to !== null) yield { from, to }
  }
}

/** A word such as `a::b` is an address only with a digit. */
function* ipv6In(text: string, start: number): Generator<Found, undefined> {
  for (const { from, to } of spans(maybeIpv6)(text, start)) {
    const found = text.slice(from, to)
    if (/\d/.test(found) && isIPv6(found)) yield { from, to }
  }
}

/** Of two values of the same characters the kind that stands first here counts. */
const finders: readonly (readonly [Kind, Find])[] = [
  ['card', cardsIn],
  ['iban', ibansIn],
  ['key', spans(pem)],
  ['key', spans(key)],
  ['email', spans(email)],
  ['ip', spans(ipv4)],
  ['ip', ipv6In],
]

/** The next value of one kind in a text. */
interface NextValue {
  readonly kind: Kind
  readonly find: Find
  search: Iterator<Found, undefined>
  /** Undefined behind the last one. */
  found: Found | undefined
}

/** Goes on to a value that begins behind `end`. Only a value that lies over `end` may hide one behind it. */
const passOn = (next: NextValue, text: string, end: number): void => {
  while (next.found !== undefined && next.found.from < end) {
    if (next.found.to > end) next.search = next.find(text, end)
    next.found = next.search.next().value
  }
}

const isBefore = (one: Found, other: Found): boolean =>
  one.from < other.from || (one.from === other.from && one.to > other.to)

/**
 * Values in their order. Of two overlapping values the earlier counts, and of two that begin together the longer. Each
 * kind is looked for once over the text, so that many overlaps take no longer than none.
 */
export const valuesIn = (text: string, start: number, wanted: ReadonlySet<Kind>): readonly Value[] => {
  const all = finders
    .filter(([kind]) => wanted.has(kind))
    .map(([kind, find]): NextValue => {
      const search = find(text, start)
      return { kind, find, search, found: search.next().value }
    })
  const values: Value[] = []
  for (let end = start; ; end = values.at(-1)?.to ?? end) {
    let first: Value | null = null
    for (const next of all) {
      passOn(next, text, end)
      const { kind, found } = next
      if (found !== undefined && (first === null || isBefore(found, first))) first = { kind, ...found }
    }
    if (first === null) return values
    values.push(first)
  }
}
