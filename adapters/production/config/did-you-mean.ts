/** Each step asks for places within the table; 0 only satisfies the compiler. */
const at = (row: readonly number[], place: number): number => row[place] ?? 0

/** Changes of one letter, or of two neighbours' places, that lead from one word to the other; `Infinity` beyond `most`. */
const distance = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return Infinity
  const rows = [Array.from({ length: other.length + 1 }, (_, place) => place)]
  for (let i = 1; i <= one.length; i++) {
    const [row, above, before] = [[i], rows[i - 1] ?? [], rows[i - 2]]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      const swapped = before !== undefined && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const least = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + same)
      row.push(swapped ? Math.min(least, at(before, j - 2) + 1) : least)
    }
    if (Math.min(...above, ...row) > most) return Infinity
    rows.push(row)
  }
  return at(rows[one.length] ?? [], other.length)
}

/** Letters of a word that is looked for; a longer one is no slip. */
const mostLetters = 64

/** The known word that a mistyped one most likely stands for; null when none is near. */
const nearest = (word: string, known: readonly string[]): string | null => {
  if (word.length > mostLetters) return null
  const small = word.toLowerCase()
  const most = Math.max(1, Math.floor(small.length / 3))
  const ranked = known
    .map((name) => ({ name, far: distance(small, name.toLowerCase(), most) }))
    .sort((one, other) => one.far - other.far)
  const [best] = ranked
  if (best !== undefined && best.far <= most) return best.name
  return small.length < 3 ? null : (known.find((name) => name.toLowerCase().startsWith(small)) ?? null)
}

/** The end of a refusal: the nearest known word as a question, or nothing. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const match = nearest(word, known)
  return match === null ? '' : `; did you mean ${match}?`
}

/** Names with a hint: more of them are no slips of the hand. */
const mostHints = 10

/** The ends of several refusals. Only the first ones look for the nearest known word. */
export const hintsAmong = (known: readonly string[]): ((word: string) => string) => {
  let left = mostHints
  return (word) => (left-- > 0 ? didYouMean(word, known) : '')
}
