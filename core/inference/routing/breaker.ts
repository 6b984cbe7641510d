import type { Settings } from '../../settings.ts'

/** How a call was let in: as any other, or as the one that finds out whether the backend is back. */
export type Pass = 'plain' | 'probe'

/** Stands between us and one backend's model; every pass is given back by exactly one of `ok`, `fault` and `left`. */
export interface Breaker {
  /** Null while it is open. */
  enter(now: number): Pass | null
  ok(pass: Pass): void
  fault(pass: Pass, now: number, cause?: unknown): void
  /** The call ended without telling anything of the backend. */
  left(pass: Pass): void
  /** Ms until it would let a call in. */
  rest(now: number): number
  /** The fault that opened it; null where an operator holds it. */
  opener(): unknown
  /** Faults since the last call that went well. */
  faultsInRow(): number
  /** Half open: the next call finds out whether the backend is back. */
  state(now: number): BreakerState
  /** The breaker lets no call in for so many ms, and then a single call that tries the backend. */
  hold(now: number, ms: number): void
  /** Lets calls in again, and forgets the faults. */
  wake(): void
}

/** The states as operators see them. */
export const breakerStates = ['closed', 'half_open', 'open'] as const
/** The name of one state. */
export type BreakerState = (typeof breakerStates)[number]

/** Calls that the share of faults is taken over. */
const window = 20
/** Fewer calls than these say nothing about a share. */
const leastCalls = 10

/** The last calls, and those faults that came one after the other. */
const lastCalls = () => {
  const calls = new Uint8Array(window)
  let seen = 0
  let bad = 0
  let inRow = 0
  return {
    record(fault: 0 | 1): void {
      const at = seen++ % window
      bad += fault - calls[at]!
      calls[at] = fault
      inRow = fault === 1 ? inRow + 1 : 0
    },
    areBad: (most: number, ratio: number): boolean =>
      inRow >= most || (seen >= leastCalls && bad / Math.min(seen, window) > ratio),
    inRow: (): number => inRow,
    forget(): void {
      calls.fill(0)
      seen = bad = inRow = 0
    },
  }
}

/** A breaker that opens for `rest` ms. An operator's rest outlasts what calls from before it report. */
export const breaker = ({ faults: most, ratio, rest }: Settings['routing']['breaker']): Breaker => {
  const calls = lastCalls()
  let until = 0
  let meant = rest
  let probing = false
  /** The fault that opened it; null where an operator holds it, and what an earlier probe says counts no more. */
  let opener: unknown

  /** Ms; never more than was meant, whatever the clock was set to. */
  const leftOf = (now: number): number => (until - now > meant ? 0 : Math.max(0, until - now))
  const close = () => {
    calls.forget()
    until = 0
    opener = undefined
  }
  const open = (now: number, ms: number, fault: unknown) => {
    opener = fault
    meant = ms
    until = now + ms
  }

  return {
    enter(now) {
      if (until === 0) return 'plain'
      if (leftOf(now) > 0 || probing) return null
      probing = true
      if (opener === null) opener = undefined
      return 'probe'
    },
    ok(pass) {
      if (pass === 'probe') {
        probing = false
        if (opener !== null) close()
      } else if (until === 0) {
        calls.record(0)
      }
    },
    fault(pass, now, cause) {
      if (pass === 'probe') {
        probing = false
        if (opener !== null) open(now, rest, cause)
      } else if (until === 0) {
        calls.record(1)
        if (calls.areBad(most, ratio)) open(now, rest, cause)
      }
    },
    left(pass) {
      if (pass === 'probe') probing = false
    },
    rest: (now) => (until === 0 ? 0 : Math.max(leftOf(now), probing ? 1 : 0)),
    opener: () => opener,
    faultsInRow: calls.inRow,
    state: (now) => (until === 0 ? 'closed' : leftOf(now) > 0 ? 'open' : 'half_open'),
    hold: (now, ms) => open(now, ms, null),
    wake: close,
  }
}

/** One for each backend's model, by the id of its candidate. */
export interface Breakers {
  of(id: string): Breaker
  /** Null for a backend's model that was not asked yet. */
  known(id: string): Breaker | null
  /** The ids of all that were asked. */
  ids(): Iterable<string>
}

/** Breakers are made with the first call, and stay as long as the generation. */
export const breakers = (settings: Settings['routing']['breaker']): Breakers => {
  const all = new Map<string, Breaker>()
  return {
    of(id) {
      let found = all.get(id)
      if (!found) all.set(id, (found = breaker(settings)))
      return found
    },
    known: (id) => all.get(id) ?? null,
    ids: () => all.keys(),
  }
}
