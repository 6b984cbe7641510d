import { setMaxListeners } from 'node:events'
import pLimit from 'p-limit'
import { stopWith } from './stop-with.ts'

/** Asks for all of them, `most` at a time and in order; the first failure ends the rest and is what the caller sees. */
export const fanOut = async <T, R>(
  items: readonly T[],
  most: number,
  ask: (item: T, signal: AbortSignal, index: number) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> => {
  signal.throwIfAborted()
  const stopped = stopWith(signal)
  // Node takes the listeners of so many calls on one signal for a leak.
  setMaxListeners(0, stopped.signal)
  const one = async (item: T, index: number): Promise<R> => {
    stopped.signal.throwIfAborted()
    try {
      return await ask(item, stopped.signal, index)
    } catch (error) {
      stopped.stop(error)
      throw error
    }
  }
  const limit = items.length > most ? pLimit(most) : null
  try {
    return await Promise.all(items.map((item, index) => (limit === null ? one(item, index) : limit(one, item, index))))
  } finally {
    stopped.off()
  }
}
