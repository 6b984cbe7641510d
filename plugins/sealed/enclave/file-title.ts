import { folded } from '../retrieval/fold.ts'

/** In characters. */
const longestTitle = 200

/** The words of a file's name. Null when the name has no word. */
export const titleOf = (name: string): string | null =>
  bare(name.replace(/\.\w{1,8}$/, '')).slice(0, longestTitle) || null

/** True when a name that is asked for, with or without its ending, is a part of the title. */
export const isTitled = (title: string | null, name: string): boolean => {
  if (title === null) return false
  const own = folded(title)
  const spellings = [name, name.replace(/\.[a-z]\w{0,7}$/i, '')].map((text) => folded(bare(text)))
  return spellings.some((words) => words !== '' && own.includes(words))
}

/** Letters, digits and marks; anything else separates words. */
const bare = (name: string): string => name.replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ').trim()
