/** One work at a time, in turn between those who have something waiting; of each, first come first served. */
export const turns = () => {
  /** In the order in which they have their turn. */
  const waiting = new Map<string, (() => void)[]>()
  let busy = false

  const wait = (whose: string): Promise<void> =>
    new Promise((go) => {
      const theirs = waiting.get(whose)
      if (theirs === undefined) waiting.set(whose, [go])
      else theirs.push(go)
    })

  /** Whoever had a turn stands behind the others now. */
  const pass = (whose: string): void => {
    const own = waiting.get(whose)
    if (own !== undefined && waiting.delete(whose)) waiting.set(whose, own)
    for (const [next, theirs] of waiting) {
      const go = theirs.shift()!
      if (theirs.length === 0) waiting.delete(next)
      return go()
    }
    busy = false
  }

  return async <T>(whose: string, work: () => Promise<T>): Promise<T> => {
    if (busy) await wait(whose)
    busy = true
    try {
      return await work()
    } finally {
      pass(whose)
    }
  }
}
