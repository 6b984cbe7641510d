import { setTimeout as sleep } from 'node:timers/promises'
import { SealgateError } from '../../../../core/sealed/client/error.ts'

/** Streams that wait for their turn, in the order in which they came. */
export interface Queue {
  /** Resolves with what gives the place back. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
}

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

/** Ms that another user of the key may hold its place, and the longest pause between two tries. */
const patience = 120_000
const longest = 5_000

/** Asks again while another user of the key has its stream; throws the refusal when that takes too long. */
export const whileBusy = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (const end = performance.now() + patience; ;) {
    try {
      return await ask()
    } catch (error) {
      const isBusy = error instanceof SealgateError && error.status === 429 && error.code === null
      if (!isBusy || performance.now() > end) throw error
      await sleep(Math.min(longest, error.retryAfter ?? 1_000), undefined, { signal })
    }
  }
}
