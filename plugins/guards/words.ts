import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Guard, type TextWatch } from '../../core/ports/guard.ts'
import { freePace } from '../../core/dialects/loop-time.ts'
import { type Search, piecewise, wholly } from './shared/piecewise.ts'
import { namesOf } from './shared/placeholders.ts'
import { searchOf } from './words/search.ts'

const list = v.strictObject({
  /** Words and phrases, whatever their case. */
  words: v.pipe(
    v.array(v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200))),
    v.minLength(1),
    v.maxLength(10_000),
  ),
  /** What happens with a text that has one of them. */
  then: v.optional(v.picklist(['refuse', 'replace', 'mark']), 'refuse'),
  /** Where they are looked for. */
  where: v.optional(v.picklist(['requests', 'answers', 'both']), 'both'),
})

/** A search that finds nothing inside of a placeholder: `[HERON_1]` has a word of its list. */
const sparing = (search: Search, hidden: readonly Search[]): Search => ({
  undecided: (text) => Math.min(search.undecided(text), ...hidden.map(({ undecided }) => undecided(text))),
  find(text, start) {
    const spared = hidden.flatMap(({ find }) => find(text, start))
    return search.find(text, start).filter(({ from }) => !spared.some((span) => span.from < from && from < span.to))
  },
})

/** Looks for words of lists, and refuses, replaces or marks the texts that have them. */
export default plugin({
  port: Guard,
  name: 'words',
  settings: v.strictObject({
    /** Lists of words. The name of a list is the mark by which callers learn of it. */
    lists: v.record(
      v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/, 'a name of lower-case letters, digits and dashes')),
      list,
    ),
    /** What stands in the place of a word. */
    by: v.optional(v.pipe(v.string(), v.maxLength(64)), '***'),
    /** Whether replaced words of a request become placeholders such as `[PROJECTS_1]`, and come back in the answer. */
    restore: v.optional(v.boolean(), false),
  }),
  create(_, { lists, by, restore }): Guard {
    const all = Object.entries(lists).map(([name, { words, then, where }]) => ({
      name,
      then,
      where,
      searching: searchOf(words),
    }))
    const answering = all.filter(({ where }) => where !== 'requests')
    const asking = all.filter(({ where }) => where !== 'answers')
    /** One list as a search that remembers whether it found anything. */
    const begun = ({ name, then, searching }: (typeof all)[number], replaced: (word: string) => string = () => by) => {
      let found = false
      const heard = (word: string) => {
        found = true
        return then === 'replace' ? replaced(word) : word
      }
      return {
        search: searching(heard),
        verdict: () => ({ refuses: found && then === 'refuse', marks: found ? [name] : [] }),
      }
    }
    type Begun = ReturnType<typeof begun>
    const verdictOf = (lists: readonly Begun[]) => {
      const each = lists.map(({ verdict }) => verdict())
      return { refuses: each.some(({ refuses }) => refuses), marks: each.flatMap(({ marks }) => marks) }
    }

    return {
      name: 'words',
      marks: Object.keys(lists),
      begin: (call) => {
        const pace = call.pace ?? freePace()
        const names = asking.map(namesOf)
        /** The last list hides last, so its words come back first. */
        const restored = () =>
          restore ? names.flatMap(({ any, restored }) => (any() ? [restored] : [])).toReversed() : []
        return {
          async request(texts, signal) {
            signal.throwIfAborted()
            if (restore) for (const { text } of texts) for (const { keepClear } of names) await keepClear(text, pace)
            const lists = asking.map((list, at) =>
              restore ? begun(list, (word) => names[at]!.of(list.name, word)) : begun(list),
            )
            const next: string[] = []
            for (const { text } of texts) {
              let given = text
              for (const { search } of lists) given = await wholly(search, given, pace, signal)
              next.push(given)
            }
            return { texts: next, ...verdictOf(lists) }
          },
          /** Null when no list is for answers and no word comes back: an answer then passes without a watch. */
          answer(): TextWatch | null {
            const hidden = restored()
            if (answering.length === 0 && hidden.length === 0) return null
            const lists = answering.map((list) => begun(list))
            const searches = [...lists.map(({ search }) => sparing(search, hidden)), ...hidden]
            const pieces = searches.map(piecewise)
            return {
              take(piece) {
                const text = pieces.reduce((text, held) => held.take(text), piece)
                return { text, ...verdictOf(lists) }
              },
              end() {
                const text = pieces.reduce((text, held) => held.take(text) + held.end(), '')
                return { text, ...verdictOf(lists) }
              },
            }
          },
        }
      },
    }
  },
})
