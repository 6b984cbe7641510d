import type { Pace } from '../../../core/dialects/loop-time.ts'
import { type Search, matchesFrom } from './piecewise.ts'

/** Every placeholder, also those of a text of the caller. */
const written = /\[[A-Z][A-Z0-9-]{0,31}_[1-9]\d{0,5}\]/g
/** Nanoseconds that it takes to find and remember one. */
const placeholderNs = 500
/** The beginning of one at the end of a text. */
const begun = /^\[(?:[A-Z][A-Z0-9-]{0,31}(?:_\d{0,6})?)?$/

/** The end of a text that may be the beginning of a placeholder. */
const undecidedPlaceholder = (text: string): number => {
  const at = text.lastIndexOf('[')
  return at >= 0 && begun.test(text.slice(at)) ? at : text.length
}

/** The placeholders of one call, numbered in the order of the values: a longer conversation keeps its own. */
export const namesOf = () => {
  const byValue = new Map<string, string>()
  const byName = new Map<string, string>()
  const taken = new Set<string>()
  const counts = new Map<string, number>()

  /** The caller's own placeholders are left out of the numbering. */
  const fresh = (kind: string): string => {
    for (;;) {
      const number = (counts.get(kind) ?? 0) + 1
      counts.set(kind, number)
      const name = `[${kind.toUpperCase()}_${number}]`
      if (!taken.has(name)) return name
    }
  }

  return {
    /** The placeholder of a value: always the same. */
    of(kind: string, value: string): string {
      const known = byValue.get(value)
      if (known !== undefined) return known
      const name = fresh(kind)
      byValue.set(value, name)
      byName.set(name, value)
      return name
    },
    /** Placeholders that the caller itself writes stand for no value. Called before the first `of` alone. */
    async keepClear(text: string, pace: Pace): Promise<void> {
      if (byName.size > 0) return
      for (const [name] of text.matchAll(written)) {
        taken.add(name)
        const turn = pace.spend(placeholderNs)
        if (turn !== null) await turn
      }
    },
    /** True when at least one value has a placeholder. */
    any: (): boolean => byName.size > 0,
    /** The values in the place of their placeholders. */
    restored: {
      undecided: undecidedPlaceholder,
      find: (text, start) =>
        [...matchesFrom(written, text, start)].flatMap(({ 0: name, index: from }) => {
          const value = byName.get(name)
          return value === undefined ? [] : [{ from, to: from + name.length, by: () => value }]
        }),
    } satisfies Search,
  }
}
