import { randomFillSync } from 'node:crypto'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Log, Random, type Alarm, type Door } from '../../core/ports/platform.ts'
import { UpstreamFailed } from '../../core/errors.ts'

// In ms: a longer timer would fire at once.
const longestTimerMs = 2 ** 31 - 1

/**
 * Rejects with the signal's reason when the signal fires. A sleep beyond the limit of timers goes in parts.
 */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop)
        resolve(ms > longestTimerMs ? sleep(ms - longestTimerMs, signal) : undefined)
      },
      Math.min(ms, longestTimerMs),
    )
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Keeps no process alive. An alarm beyond the limit of timers rings at this limit, after 24.8 days. */
const alarm = (ms: number, ring: () => void): Alarm => {
  let over = false
  const timer = setTimeout(
    () => {
      over = true
      ring()
    },
    Math.min(ms, longestTimerMs),
  ).unref()
  return {
    again() {
      // A refresh would restart a timer that has fired or was cleared.
      if (!over) timer.refresh()
    },
    off() {
      over = true
      clearTimeout(timer)
    },
  }
}

// Ids take a few bytes on every request, and a call to the system's generator would cost more than the rest of an id.
const small = 64
const pool = new Uint8Array(4096)
let used = pool.length

const bytes = (length: number): Uint8Array => {
  if (length > small) return randomFillSync(new Uint8Array(length))
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const taken = pool.slice(used, used + length)
  // No copy of bytes that were handed out stays in the pool.
  pool.fill(0, used, (used += length))
  return taken
}

/** The clock and the randomness of this machine. */
export const system: { readonly clock: Clock; readonly random: Random } = {
  clock: { now: Date.now, sleep, alarm },
  random: { bytes, fraction: Math.random },
}

export const clock = plugin({ port: Clock, name: 'clock', create: () => system.clock })

export const random = plugin({ port: Random, name: 'random', create: () => system.random })

const closed: Door = async (_url, { signal }) => {
  signal.throwIfAborted()
  throw new UpstreamFailed('This environment has no network', { again: true })
}

/** Refuses every connection, so that a test without a backend of its own fails at once. */
export const fetch = plugin({
  port: Fetch,
  name: 'fetch',
  create: (): Fetch => ({ upstream: closed, outside: closed }),
})

/** Drops every line: nothing inside an enclave is recorded, and tests stay silent. */
export const log = plugin({
  port: Log,
  name: 'log',
  create: (): Log => ({ info() {}, warn() {}, error() {} }),
})
