/** A signal that fires with an outer one or by `stop`. `off` leaves the outer one once the work is done. */
export interface Stopped {
  readonly signal: AbortSignal
  stop(reason: unknown): void
  off(): void
}

/** `AbortSignal.any` would cost as much as a call: Node 20 keeps its signals until a full collection. */
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
