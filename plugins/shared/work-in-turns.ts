import type { Pace } from '../../core/dialects/loop-time.ts'

/** Work that tells from time to time how many nanoseconds its last piece takes: a steady measure, not a clock. */
export type Work<T> = Generator<number, T, undefined>

/** Does the work, and leaves the loop to others where the pace says so. Throws when the caller has left. */
export const inTurns = async <T>(work: Work<T>, pace: Pace, signal?: AbortSignal): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done) return piece.value
    const turn = pace.spend(piece.value)
    if (turn === null) continue
    await turn
    signal?.throwIfAborted()
  }
}

/** Does short work at once. */
export const atOnce = <T>(work: Work<T>): T => {
  for (;;) {
    const piece = work.next()
    if (piece.done) return piece.value
  }
}
