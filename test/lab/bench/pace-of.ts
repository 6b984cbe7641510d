import type { Round } from './contest.ts'

/** Ms of the fastest tenth of so many calls, one after the other: what else the machine does only adds to a call. */
export const paceOf =
  (call: () => Promise<unknown>, calls: number): Round =>
  async () => {
    const times: number[] = []
    for (let count = 0; count < calls; count++) {
      const began = performance.now()
      await call()
      times.push(performance.now() - began)
    }
    return times.sort((one, other) => one - other)[Math.floor(calls / 10)]!
  }
