import type { Clock } from '../../core/ports/platform.ts'

export interface FakeClock extends Clock {
  /** Lets so much time pass, alarm by alarm, and lets everybody act in between. */
  pass(ms: number): Promise<void>
  /** Sets the time of day, as an operator does; alarms ring as long from now as before. */
  set(ms: number): void
  /** Alarms that would still ring. */
  armed(): number
}

/** Lets all that can happen without time passing happen. */
export const settled = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Time that passes only when told to. */
export const fakeClock = (start = 1_800_000_000_000): FakeClock => {
  let now = start
  const due = new Map<object, { at: number; ring(): void }>()

  const clock: FakeClock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const stop = () => {
          alarm.off()
          reject(signal?.reason)
        }
        const alarm = clock.alarm(ms, () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        })
        signal?.addEventListener('abort', stop)
      }),
    alarm(ms, ring) {
      const timer = {}
      let over = false
      const again = () => {
        if (over) return
        const ringing = () => {
          over = true
          ring()
        }
        due.set(timer, { at: now + ms, ring: ringing })
      }
      again()
      return {
        again,
        off() {
          over = true
          due.delete(timer)
        },
      }
    },
    async pass(ms) {
      const until = now + ms
      for (;;) {
        await settled()
        let next: [object, { at: number; ring(): void }] | null = null
        for (const entry of due) if (entry[1].at <= until && (next === null || entry[1].at < next[1].at)) next = entry
        if (next === null) break
        due.delete(next[0])
        now = next[1].at
        next[1].ring()
      }
      now = until
    },
    set(ms) {
      now += ms
      for (const alarm of due.values()) alarm.at += ms
    },
    armed: () => due.size,
  }
  return clock
}
