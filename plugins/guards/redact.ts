import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Guard, type TextWatch } from '../../core/ports/guard.ts'
import { kinds, type Kind, valuesIn } from './redact/values.ts'
import { type Search, piecewise, wholly } from './shared/piecewise.ts'
import { namesOf } from './shared/placeholders.ts'
import { undecidedValue } from './redact/undecided.ts'

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
    begin() {
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
          if (settings.restore) for (const { text } of texts) names.keepClear(text)
          const next: string[] = []
          for (const { text } of texts) next.push(await wholly(hidden, text, signal))
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
