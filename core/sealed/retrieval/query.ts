import type { Thesaurus } from './synonyms.ts'
import { hashOf } from './postings.ts'
import { eachWord } from './words.ts'

/** A word that is looked up. */
export interface Term {
  readonly hash: number
  /** Half where the word is a part of one that is looked up too. */
  readonly weight: number
  /** A name asks for passages that contain it, and not for similar ones. */
  readonly name: boolean
  /** By their hashes the words that mean nearly the same, and how nearly, the nearest first; none for a name. */
  readonly kin: ReadonlyMap<number, number>
}

export const termsOf = (query: string, thesaurus: Thesaurus | null): readonly Term[] => {
  const terms = new Map<number, Term>()
  eachWord(query, (word, start, end, part) => {
    const name = isName(query, start, end)
    const hash = hashOf(word)
    const kin = thesaurus && !name ? kinOf(query.slice(start, end), hash, thesaurus) : new Map<number, number>()
    const term = { hash, weight: part ? 0.5 : 1, name, kin }
    const known = terms.get(hash)
    if (known === undefined || strength(known) < strength(term)) terms.set(hash, term)
  })
  return [...terms.values()]
}

const kinOf = (word: string, own: number, thesaurus: Thesaurus): ReadonlyMap<number, number> => {
  const kin = new Map<number, number>()
  for (const { word: other, nearness } of thesaurus(word)) {
    eachWord(other, (form, _, __, part) => {
      const hash = hashOf(form)
      if (!part && hash !== own && !kin.has(hash)) kin.set(hash, nearness)
    })
  }
  return kin
}

const strength = ({ weight, name }: Term): number => weight + (name ? 1 : 0)

/**
 * What to embed for a query, whose vector is then the middle of these: the query, and where it has a name or two also what
 * is left without them. An embedding makes little of names, and words are matched anyhow.
 */
export const soughtIn = (query: string): readonly string[] => {
  const left: string[] = []
  let words = 0
  let names = 0
  let from = 0
  eachWord(query, (_, start, end, part) => {
    if (part) return
    words++
    if (!isName(query, start, end)) return
    names++
    left.push(query.slice(from, start))
    from = end
  })
  const without = [...left, query.slice(from)].join('').replace(/\s+/g, ' ').trim()
  return names > 0 && names * 3 <= words ? [query, without] : [query]
}

/** Null for none. */
export const middleOf = (vectors: readonly (Float32Array | null)[]): Float32Array | null => {
  const there = vectors.filter((vector) => vector !== null)
  return there[0]?.map((_, at) => there.reduce((sum, vector) => sum + (vector[at] ?? 0), 0) / there.length) ?? null
}

/** Has a capital that no beginning sentence explains, or looks like a sign: `ERR_4711`, `getTime`, `2030`. */
const isName = (query: string, start: number, end: number): boolean => {
  const word = query.slice(start, end)
  if (/[\p{N}_]|\p{Ll}\p{Lu}/u.test(word)) return true
  return /^\p{Lu}/u.test(word) && !/^I(?:['’]\w+)?$/.test(word) && !opening.test(query.slice(0, start))
}

const opening = /(?:^|[.!?:]\s*)[\s"'“„«([]*$/
