import type { Settings } from '../../settings.ts'

/** How a call was let in: as any other, or as the one that finds out whether the backend is back. */
export type Pass = 'plain' | 'probe'

/** Stands between us and one backend's model; every pass is given back by exactly one of `ok`, `fault` and `left`. */
export interface Breaker {
  /** Null while it is open. */
  enter(now: number): Pass | null
  ok(pass: Pass): void
  fault(pass: Pass, now: number): void
  /** The call ended without telling anything of the backend. */
  left(pass: Pass): void
  /** Ms until it would let a call in. */
  rest(now: number): number
}

const window = 20
/** Fewer calls than these say nothing about a share. */
const leastCalls = 10

export const breaker = ({ faults: most, ratio, rest }: Settings['routing']['breaker']): Breaker => {
  const calls = new Uint8Array(window)
  let seen = 0
  let bad = 0
  let inRow = 0
  let until = 0
  let probing = false

  const record = (fault: 0 | 1) => {
    const at = seen++ % window
    bad += fault - calls[at]!
    calls[at] = fault
  }
  /** Ms; never more than was meant, whatever the clock was set to. */
  const leftOf = (now: number): number => (until - now > rest ? 0 : Math.max(0, until - now))
  const close = () => {
    calls.fill(0)
    seen = bad = inRow = until = 0
  }

  return {
    enter(now) {
      if (until === 0) return 'plain'
      if (leftOf(now) > 0 || probing) return null
      probing = true
      return 'probe'
    },
    ok(pass) {
      if (pass === 'probe') {
        probing = false
        close()
      } else if (until === 0) {
        inRow = 0
        record(0)
      }
    },
    fault(pass, now) {
      if (pass === 'probe') {
        probing = false
        until = now + rest
      } else if (until === 0) {
        inRow++
        record(1)
        const share = bad / Math.min(seen, window)
        if (inRow >= most || (seen >= leastCalls && share > ratio)) until = now + rest
      }
    },
    left(pass) {
      if (pass === 'probe') probing = false
    },
    rest: (now) => (until === 0 ? 0 : Math.max(leftOf(now), probing ? 1 : 0)),
  }
}

/** One for each backend's model. */
export const breakers = (settings: Settings['routing']['breaker']): ((id: string) => Breaker) => {
  const all = new Map<string, Breaker>()
  return (id) => {
    let it = all.get(id)
    if (!it) all.set(id, (it = breaker(settings)))
    return it
  }
}
