/** In words: a sentence of a page is understood at the first reading. */
const longest = 25

/** Words in the place of a noun at the beginning of a sentence. */
const vague = /^(?:It|Its|They|Nor|Whoever|Which|What)\b/

/** The sentences of a page that are too long, or begin without a noun; blocks of code, tables and headings are none. */
export const hardSentences = (page: string): readonly string[] =>
  page
    .replace(/^```[\s\S]*?^```$|<!--[\s\S]*?-->|^#.*$|^\|.*$/gm, '\n\n')
    .split(/\n\s*\n|\n\s*(?:[*-]|\d+\.) /)
    .flatMap((block) => proseOf(block).split(/(?<=[.!?]["”)]*)\s+/))
    .filter((sentence) => wordsIn(sentence) > longest || vague.test(sentence))

/** A block without marks, in which each piece of code is a sign. */
const proseOf = (block: string): string =>
  block
    .replace(/^\s*(?:[*-]|\d+\.) /, '')
    .replace(/`[^`]*`/g, '§')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*/g, '')
    .replace(/\s+/g, ' ')
    .trim()

const wordsIn = (sentence: string): number => sentence.match(/[\p{L}\d][\p{L}\d.,'’:/-]*/gu)?.length ?? 0
