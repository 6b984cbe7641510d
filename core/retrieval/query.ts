import { hashOf } from './postings.ts'
import { eachWord } from './words.ts'

/** The words that are looked up, by their hash, and how much each weighs. */
export const termsOf = (query: string): ReadonlyMap<number, number> => {
  const terms = new Map<number, number>()
  eachWord(query, (word, start, end, part) => {
    const weight = (isName(query, start, end) ? name : 1) * (part ? half : 1)
    const hash = hashOf(word)
    terms.set(hash, Math.max(weight, terms.get(hash) ?? 0))
  })
  return terms
}

/**
 * What is to be embedded of a query, to search with the middle of its vectors: the query, and where it names something
 * also what is left without the names. An embedding makes little of names, and words are matched anyhow.
 */
export const soughtIn = (query: string): readonly string[] => {
  let rest = ''
  let from = 0
  eachWord(query, (_, start, end, part) => {
    if (part || start < from || !isName(query, start, end)) return
    rest += query.slice(from, start)
    from = end
  })
  const without = (rest + query.slice(from)).replace(/\s+/g, ' ').trim()
  return from === 0 || without === '' ? [query] : [query, without]
}

/** Null for none. */
export const middleOf = (vectors: readonly (Float32Array | null)[]): Float32Array | null => {
  const [first, ...others] = vectors
  if (!first) return null
  return first.map((value, at) => others.reduce((sum, other) => sum + (other?.[at] ?? 0), value) / vectors.length)
}

/** Who asks for a name wants that one, and no other of which the same is told. */
export const tuneName = { name: 3 }
let name = 3
export const setName = (n: number) => void (name = n)
const half = 0.5

/** Written with a capital or a digit, and not since a sentence begins there. */
const isName = (query: string, start: number, end: number): boolean =>
  /[\p{Lu}\p{N}]/u.test(query.slice(start, end)) &&
  !/^I(?:['’]\w+)?$/.test(query.slice(start, end)) &&
  !/(?:^|[.!?:]\s*)["'(«“]*$/.test(query.slice(0, start))
