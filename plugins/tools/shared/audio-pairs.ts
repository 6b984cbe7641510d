/**
 * Works on all items, two at a time, with results in the order of the items. A third item is read only after one of the
 * two is done, which bounds memory. The first failure ends the reading and the other work.
 */
export const inPairs = async <T, R>(
  read: (signal: AbortSignal) => AsyncGenerator<T, void>,
  work: (item: T, signal: AbortSignal) => Promise<R>,
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
