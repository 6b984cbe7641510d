import type { Clock } from '../../core/ports/platform.ts'

/** A signal that fires with an outer one or by `stop`. `off` leaves the outer one once the work is done. */
export interface Stopped {
  readonly signal: AbortSignal
  stop(reason: unknown): void
  off(): void
}

/** Node 20 keeps a signal of `AbortSignal.any` until a full collection, which takes time of every call. */
export const stopWith = (outer: AbortSignal): Stopped => {
  const own = new AbortController()
  const leave = (): void => own.abort(outer.reason)
  if (outer.aborted) leave()
  else outer.addEventListener('abort', leave, { once: true })
  return {
    signal: own.signal,
    stop: (reason) => own.abort(reason),
    off: () => outer.removeEventListener('abort', leave),
  }
}

/** A signal that fires after so many ms with the reason, or when the outer one does. Call `off` once the work is done. */
export const withDeadline = (
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  reason: () => Error,
): Omit<Stopped, 'stop'> => {
  const { signal, stop, off } = stopWith(outer)
  const alarm = clock.alarm(ms, () => stop(reason()))
  return {
    signal,
    off() {
      alarm.off()
      off()
    },
  }
}
