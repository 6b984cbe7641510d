/** Changes of one letter that lead from one word to the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const same = letter === other[j] ? 0 : 1
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + same))
    }
    row = next
  }
  return row[other.length]!
}

/** The known word that a mistyped one most likely stands for; null when none is near. */
export const nearest = (word: string, known: readonly string[]): string | null => {
  const small = word.toLowerCase()
  const most = Math.max(1, Math.floor(small.length / 3))
  const ranked = known
    .map((it) => ({ it, far: distance(small, it.toLowerCase()) }))
    .sort((one, other) => one.far - other.far)
  const [best] = ranked
  if (best !== undefined && best.far <= most) return best.it
  return small.length < 3 ? null : (known.find((it) => it.toLowerCase().startsWith(small)) ?? null)
}

/** The end of a refusal: the nearest known word as a question, or nothing. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const it = nearest(word, known)
  return it === null ? '' : `; did you mean ${it}?`
}
