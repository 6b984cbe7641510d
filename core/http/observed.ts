import { type Observer, type Trace, withHook } from '../ports/observer.ts'

/** The hooks of all observers, each kind alone. */
export const observed = (observers: readonly Observer[]) => {
  const [coming, leaving, failing, limiting, going, watching, renewing] = [
    ...[withHook(observers, 'came'), withHook(observers, 'left'), withHook(observers, 'failed')],
    ...[withHook(observers, 'limited'), withHook(observers, 'went'), withHook(observers, 'begin')],
    withHook(observers, 'renewed'),
  ] as const
  return {
    came() {
      for (const observer of coming) observer.came()
    },
    left(route: string, status: number, ms: number) {
      for (const observer of leaving) observer.left(route, status, ms)
    },
    failed(kind: string) {
      for (const observer of failing) observer.failed(kind)
    },
    went(way: 'straight' | 'long', why: string) {
      for (const observer of going) observer.went(way, why)
    },
    limited(limit: string) {
      for (const observer of limiting) observer.limited(limit)
    },
    renewed() {
      for (const observer of renewing) observer.renewed()
    },
    isWatching: () => watching.some((observer) => observer.isWatching?.() === true),
    begin: (request: Parameters<(typeof watching)[number]['begin']>[0]): Trace | null =>
      joined(watching.flatMap((observer) => observer.begin(request) ?? [])),
  }
}

export type Observed = ReturnType<typeof observed>

/** One trace for all that watch a request. */
const joined = (traces: readonly Trace[]): Trace | null => {
  const [first = null] = traces
  if (traces.length < 2) return first
  return {
    chose: (model) => traces.forEach((trace) => trace.chose(model)),
    because: (why) => traces.forEach((trace) => trace.because?.(why)),
    asks(attempt) {
      const ends = traces.map((trace) => trace.asks(attempt))
      return (outcome, status) => ends.forEach((end) => end(outcome, status))
    },
    broke: (backend, status) => traces.forEach((trace) => trace.broke(backend, status)),
    began: () => traces.forEach((trace) => trace.began()),
    used: (counted) => traces.forEach((trace) => trace.used(counted)),
    ended: (status, ms) => traces.forEach((trace) => trace.ended(status, ms)),
  }
}
