import pLimit from 'p-limit'

/** Asks for all of them, `most` at a time and in order; the first failure ends the rest and is what the caller sees. */
export const fanOut = async <T, R>(
  items: readonly T[],
  most: number,
  ask: (item: T, signal: AbortSignal, index: number) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> => {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const limit = pLimit(most)
  try {
    return await Promise.all(
      items.map((item, index) =>
        limit(() => {
          either.throwIfAborted()
          return ask(item, either, index)
        }),
      ),
    )
  } catch (error) {
    failed.abort(error)
    throw error
  }
}
