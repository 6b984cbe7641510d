/**
 * Does work on all that is given, two at a time, with the results in its order. A third is read only when one of the two is
 * done, so that no more of it is ever in memory. What fails first ends the reading and the other.
 */
export const inPairs = async <T, R>(
  read: (signal: AbortSignal) => AsyncGenerator<T, void>,
  work: (it: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<readonly R[]> => {
  const over = new AbortController()
  const stop = AbortSignal.any([signal, over.signal])
  const given = read(stop)
  const results: R[] = []
  let count = 0
  const one = async (): Promise<void> => {
    for (let next = await given.next(); !next.done; next = await given.next()) {
      const place = count++
      results[place] = await work(next.value, stop)
    }
  }
  try {
    await Promise.all([one(), one()])
  } finally {
    over.abort()
    await given.return()
  }
  return results
}
