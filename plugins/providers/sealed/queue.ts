import { setTimeout as sleep } from 'node:timers/promises'
import { SealgateError } from '../../sealed/client/error.ts'

/** Streams that wait for their turn, in the order of arrival. */
export interface Queue {
  /** Resolves with a function that gives the place back. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
}

/** Gives places in the order of arrival. Giving one back twice frees it once. */
export const queueOf = (places: number): Queue => {
  const waiting = new Set<() => void>()
  let taken = 0

  const leave = () => {
    const [next] = waiting
    if (next === undefined) return void taken--
    waiting.delete(next)
    next()
  }

  return {
    enter(signal) {
      signal.throwIfAborted()
      const once = () => {
        let left = false
        return () => {
          if (left) return
          left = true
          leave()
        }
      }
      if (taken < places) {
        taken++
        return Promise.resolve(once())
      }
      return new Promise((resolve, reject) => {
        const begin = () => {
          signal.removeEventListener('abort', gone)
          resolve(once())
        }
        const gone = () => {
          waiting.delete(begin)
          reject(signal.reason as Error)
        }
        waiting.add(begin)
        signal.addEventListener('abort', gone, { once: true })
      })
    },
  }
}

/** In ms: the longest pause between two tries. */
const longestPauseMs = 5_000

/** Repeats the request while another user of the key has its stream. Throws the refusal after `patience` ms. */
export const whileBusy = async <T>(ask: () => Promise<T>, patience: number, signal: AbortSignal): Promise<T> => {
  for (const end = performance.now() + patience; ;) {
    try {
      return await ask()
    } catch (error) {
      const isBusy = error instanceof SealgateError && error.status === 429 && error.code === null
      const pause = isBusy ? Math.min(longestPauseMs, error.retryAfter ?? 1_000) : Infinity
      if (performance.now() + pause > end) throw error
      await sleep(pause, undefined, { signal })
    }
  }
}
