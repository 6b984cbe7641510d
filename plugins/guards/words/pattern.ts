/** Scripts that write words without blanks between them: their words have no edges. */
const unspaced = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const letter = '[\\p{L}\\p{N}]'
const hasFirstEdge = new RegExp(`^(?![${unspaced}])${letter}`, 'u')
const hasLastEdge = new RegExp(`(?![${unspaced}])${letter}$`, 'u')

/** Blanks between the words of a phrase. */
export const mostBlanks = 8

/** A letter with all words that go on behind it. */
interface Node {
  readonly next: Map<string, Node>
  /** The pattern behind the last letter of a word; null where no word ends. */
  end: string | null
}

const node = (): Node => ({ next: new Map(), end: null })

const enter = (root: Node, word: string): void => {
  let at = root
  for (const mark of word) {
    let next = at.next.get(mark)
    if (next === undefined) at.next.set(mark, (next = node()))
    at = next
  }
  at.end = hasLastEdge.test(word.normalize('NFC')) ? `(?!${letter})` : ''
}

/** One blank of a phrase stands for up to `mostBlanks` blanks and line breaks. */
const printed = (mark: string): string =>
  mark === ' ' ? `\\s{1,${mostBlanks}}` : mark.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')

/** Longer words are tried first. */
const patternOf = ({ next, end }: Node): string => {
  const ways = [...next].map(([mark, node]) => printed(mark) + patternOf(node))
  if (end !== null) ways.push(end)
  return ways.length === 1 ? ways[0]! : `(?:${ways.join('|')})`
}

/** One pattern for all words, in lower case and with single blanks. A tree of letters: its time does not grow with the words. */
export const wordsPattern = (words: readonly string[]): RegExp => {
  const [edged, free] = [node(), node()]
  for (const word of words) enter(hasFirstEdge.test(word) ? edged : free, word)
  const ways = [
    ...(edged.next.size > 0 ? [`(?<!${letter})${patternOf(edged)}`] : []),
    ...(free.next.size > 0 ? [patternOf(free)] : []),
  ]
  return new RegExp(ways.join('|'), 'giu')
}
