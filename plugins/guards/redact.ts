import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Guard, type TextWatch } from '../../core/ports/guard.ts'
import { freePace } from '../../core/dialects/loop-time.ts'
import { kinds, type Kind, valuesIn } from './redact/values.ts'
import { type Search, piecewise, wholly } from './shared/piecewise.ts'
import { namesOf } from './shared/placeholders.ts'
import { longestCard } from './redact/card.ts'
import { longestIban } from './redact/iban.ts'

/** Puts placeholders such as `[EMAIL_1]` in the place of card and account numbers, keys, e-mail and IP addresses. */
export default plugin({
  port: Guard,
  name: 'redact',
  settings: v.strictObject({
    /** What is looked for. */
    kinds: v.optional(v.pipe(v.array(v.picklist(kinds)), v.minLength(1)), [...kinds]),
    /** Whether the answer has the values in the place of their placeholders. The map lives as long as the call. */
    restore: v.optional(v.boolean(), false),
    /** Whether values that a backend writes are replaced too. */
    answers: v.optional(v.boolean(), false),
  }),
  create: (_, settings): Guard => ({
    name: 'redact',
    marks: settings.kinds,
    begin(call) {
      const pace = call.pace ?? freePace()
      const wanted: ReadonlySet<Kind> = new Set(settings.kinds)
      const names = namesOf()
      const fresh = new Set<Kind>()
      /** The kinds that were hidden since the last call. */
      const marks = (): readonly Kind[] => {
        const told = [...fresh]
        fresh.clear()
        return told
      }
      const hidden: Search = {
        undecided: undecidedValue,
        find: (text, start) =>
          valuesIn(text, start, wanted).map(({ kind, from, to }) => ({
            from,
            to,
            by() {
              fresh.add(kind)
              return names.of(kind, text.slice(from, to))
            },
          })),
      }
      const { restored } = names
      const both: Search = {
        undecided: (text) => Math.min(undecidedValue(text), restored.undecided(text)),
        find: (text, start) =>
          [...restored.find(text, start), ...hidden.find(text, start)].sort((one, other) => one.from - other.from),
      }

      return {
        async request(texts, signal) {
          signal.throwIfAborted()
          if (settings.restore) for (const { text } of texts) await names.keepClear(text, pace)
          const next: string[] = []
          for (const { text } of texts) next.push(await wholly(hidden, text, pace, signal))
          return { texts: next, marks: marks() }
        },
        /** Null when the answer needs no change: it then passes without a watch. */
        answer(): TextWatch | null {
          const restores = settings.restore && names.any()
          if (!restores && !settings.answers) return null
          const pieces = piecewise(!restores ? hidden : settings.answers ? both : restored)
          return {
            take: (piece) => ({ text: pieces.take(piece), marks: marks() }),
            end: () => ({ text: pieces.end(), marks: marks() }),
          }
        },
      }
    },
  }),
})

/** Characters of a run without blanks that is held back as a whole: no value but a private key is longer. */
const longestRun = 8_448
/** In characters, with the lines of both ends. */
const longestPem = 17_000

/** A character that may stand inside of an address or a key. */
const run = /[A-Za-z0-9._%+\-@:/=~]/

/** The end of a text that may still become a value, or still become none. */
const undecidedValue = (text: string): number => Math.min(runStart(text), numberStart(text), pemStart(text))

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
