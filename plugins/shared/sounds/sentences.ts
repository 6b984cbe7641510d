/**
 * The sentences of a text, each at most `most` characters. A longer sentence is cut between words, and a longer word
 * anywhere.
 */
export const sentencesOf = (text: string, most: number): readonly string[] => {
  const sentences: string[] = []
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
    for (let rest = segment.trim(); rest !== '';) {
      const piece = rest.length > most ? rest.slice(0, cutIn(rest, most)) : rest
      sentences.push(piece.trimEnd())
      rest = rest.slice(piece.length).trimStart()
    }
  }
  return sentences
}

/** Joins neighbouring sentences up to `most` characters. */
export const passagesOf = (sentences: readonly string[], most: number): readonly (readonly string[])[] => {
  const passages: string[][] = []
  let length = Infinity
  for (const sentence of sentences) {
    length += sentence.length + 1
    if (length > most) {
      passages.push([])
      length = sentence.length
    }
    passages.at(-1)?.push(sentence)
  }
  return passages
}

/** The place of the cut: the last blank within `most` characters, else `most` itself. */
const cutIn = (text: string, most: number): number => {
  const gap = text.lastIndexOf(' ', most)
  if (gap > 0) return gap
  const second = text.charCodeAt(most)
  // A surrogate pair is never split.
  return second >= 0xdc00 && second <= 0xdfff ? most - 1 : most
}
