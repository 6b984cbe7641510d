import type { Clock } from '../../../core/ports/platform.ts'
import type { Batch, PrintedRequest } from './sample.ts'

/** News for one listener. A listener that is slow finds the last state of each request, and of many only some. */
export interface Mailbox {
  /** Replaces an earlier state of the same request, so that a slow listener holds no queue. */
  put(batch: Omit<Batch, 'part'>): void
  /** All that is new; empty after so many ms without news, or when the signal fires. */
  take(ms: number, signal: AbortSignal): Promise<readonly PrintedRequest[]>
  /** Requests that the listener did not see since the last call. */
  passed(): number
}

/** Requests that wait for a listener. */
const mostWaiting = 200

/** An empty mailbox. One listener at a time waits in `take`. */
export const mailbox = (clock: Clock): Mailbox => {
  const waiting = new Map<string, PrintedRequest>()
  /** A batch that came alone: listeners that keep up share its list, and what is printed of it. */
  let alone: Batch['requests'] | null = null
  let passed = 0
  let wake: (() => void) | null = null

  const news = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        wake = null
        alarm.off()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const alarm = clock.alarm(ms, done)
      signal.addEventListener('abort', done, { once: true })
      wake = done
    })

  return {
    put(batch) {
      passed += batch.passed
      const isFirst = waiting.size === 0 && alone === null && batch.requests.length <= mostWaiting
      const more = alone === null ? batch.requests : [...alone, ...batch.requests]
      alone = isFirst && batch.requests.length > 0 ? batch.requests : null
      for (const request of alone === null ? more : [])
        if (waiting.size < mostWaiting || waiting.has(request.id)) waiting.set(request.id, request)
        else passed++
      wake?.()
    },
    async take(ms, signal) {
      if (alone === null && waiting.size === 0 && passed === 0 && !signal.aborted) await news(ms, signal)
      const all = alone ?? [...waiting.values()]
      alone = null
      waiting.clear()
      return all
    },
    passed() {
      const lost = passed
      passed = 0
      return lost
    },
  }
}
