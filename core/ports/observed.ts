import type { BegunRequest, Observer, Trace } from './observer.ts'
import type { Log } from './platform.ts'

/** The hooks of all observers, which take what the hooks of one take. */
export type Observed = Omit<Required<Observer>, 'begin'> & { begin(request: BegunRequest): Trace | null }

/** The fault of an observer is logged, and stops neither the request nor the other observers. */
export const observed = (observers: readonly Observer[], log: Log): Observed => {
  const guarded = <Seen>(hook: keyof Observer, otherwise: Seen, look: () => Seen): Seen => {
    try {
      return look()
    } catch (fault) {
      log.error('observer', { hook }, fault)
      return otherwise
    }
  }
  const all = <K extends Exclude<keyof Observer, 'isWatching' | 'begin'>>(hook: K): Observed[K] => {
    const having = observers.filter((observer) => observer[hook] !== undefined)
    // No hook has more facts. A list of facts would be made anew for each call.
    const tell = (a: unknown, b: unknown, c: unknown, d: unknown, e: unknown): void => {
      for (const observer of having as unknown as readonly Record<K, (...facts: unknown[]) => void>[])
        try {
          observer[hook](a, b, c, d, e)
        } catch (fault) {
          log.error('observer', { hook }, fault)
        }
    }
    return tell as Observed[K]
  }
  const watching = observers.filter(({ begin, isWatching }) => begin !== undefined && isWatching !== undefined)
  return {
    came: all('came'),
    left: all('left'),
    failed: all('failed'),
    went: all('went'),
    limited: all('limited'),
    renewed: all('renewed'),
    saw: all('saw'),
    firstToken: all('firstToken'),
    used: all('used'),
    stands: all('stands'),
    reached: all('reached'),
    isWatching: () => watching.some((observer) => guarded('isWatching', false, () => observer.isWatching?.() === true)),
    begin: (request) =>
      joined(watching.flatMap((observer) => guarded('begin', null, () => observer.begin?.(request) ?? null) ?? [])),
  }
}

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
