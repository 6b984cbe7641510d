import pLimit from 'p-limit'

/** Asks for all of them, `most` at a time and in order; the first failure ends the rest and is what the caller sees. */
export const fanOut = async <T, R>(
  items: readonly T[],
  most: number,
  ask: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> => {
  const failed = new AbortController()
  const limit = pLimit(most)
  const one = async (item: T): Promise<R> => {
    // A signal of its own for each, since many listeners on one look like a leak.
    const either = AbortSignal.any([signal, failed.signal])
    either.throwIfAborted()
    try {
      return await ask(item, either)
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }
  return Promise.all(items.map((item) => limit(one, item)))
}
