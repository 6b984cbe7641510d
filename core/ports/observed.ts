import type { BegunRequest, Observer, Trace } from './observer.ts'
import type { Log } from './platform.ts'

/** The hooks of all observers, which take what the hooks of one take. */
export type Observed = Omit<Required<Observer>, 'begin'> & { begin(request: BegunRequest): Trace | null }

/** The fault of an observer is logged, and stops neither the request nor the other observers. */
export const observed = (observers: readonly Observer[], log: Log): Observed => {
  const guarded = guardOf(log)
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
      joined(
        watching.flatMap((observer) => guarded('begin', null, () => observer.begin?.(request) ?? null) ?? []),
        guarded,
      ),
  }
}

/** One trace for all that watch a request. A request that nobody watches has none. */
const joined = (traces: readonly Trace[], guarded: ReturnType<typeof guardOf>): Trace | null => {
  if (traces.length === 0) return null
  const tell = (hook: keyof Trace, look: (trace: Trace) => void): void => {
    for (const trace of traces) guarded(hook, undefined, () => look(trace))
  }
  return {
    chose: (model) => tell('chose', (trace) => trace.chose(model)),
    because: (why) => tell('because', (trace) => trace.because?.(why)),
    asks(attempt) {
      const ends = traces.flatMap((trace) => guarded('asks', null, () => trace.asks(attempt)) ?? [])
      return (outcome, status) => {
        for (const end of ends) guarded('asks', undefined, () => end(outcome, status))
      }
    },
    broke: (backend, status) => tell('broke', (trace) => trace.broke(backend, status)),
    began: () => tell('began', (trace) => trace.began()),
    used: (counted) => tell('used', (trace) => trace.used(counted)),
    ended: (status, ms) => tell('ended', (trace) => trace.ended(status, ms)),
  }
}

/** Looks with an observer; its fault is logged, and the other value stands for what it would have seen. */
const guardOf =
  (log: Log) =>
  <Seen>(hook: keyof Observer | keyof Trace, otherwise: Seen, look: () => Seen): Seen => {
    try {
      return look()
    } catch (fault) {
      log.error('observer', { hook }, fault)
      return otherwise
    }
  }
