import type { Clock } from '../ports/platform.ts'

/** Nanoseconds of work that one turn of the loop does for a holder; a steady measure, not a clock. */
const turnNs = 1_000_000

/** Whose work it is: a key of an organisation. */
interface LoopHolder {
  readonly organization: string
  readonly key: string
}

/** Milliseconds of work in a second after which the next work of a key, or of an organisation, waits behind the others. */
export interface TimeAllowance {
  readonly key: number
  readonly organization: number
}

/** The allowance where no configuration says another. */
export const usualTime: TimeAllowance = { key: 250, organization: 500 }

/** The work of one request on the main loop. */
export interface Pace {
  /** Books work. The promise resolves when the next work may begin; null means at once. */
  spend(ns: number): Promise<void> | null
}

/**
 * Gives what resolves when the next piece of a kind of work may begin: a turn of the loop does one of those that wait. The
 * owners of the work take turns.
 */
export const turnsOf = (): ((owner?: string) => Promise<void>) => {
  const waiting = new Map<string, (() => void)[]>()
  const serve = (): void => {
    for (const [owner, theirs] of waiting) {
      theirs.shift()?.()
      waiting.delete(owner)
      if (theirs.length > 0) waiting.set(owner, theirs)
      break
    }
    if (waiting.size > 0) setImmediate(serve)
  }
  return (owner = '') =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(serve)
      const theirs = waiting.get(owner)
      if (theirs === undefined) waiting.set(owner, [resolve])
      else theirs.push(resolve)
    })
}

/** The turns of work that nobody is charged for. */
export const freeTurn = turnsOf()

/** Work that nobody is charged for still leaves the loop to others after each turn. */
export const freePace = (): Pace => {
  let since = 0
  return {
    spend(ns) {
      since += ns
      if (since < turnNs) return null
      since = 0
      return freeTurn()
    },
  }
}

/** Work that was booked and has not worn off. It wears off at the rate of the allowance. */
interface Debt {
  ns: number
  at: number
}

/** Debts that are remembered before those that wore off are forgotten. */
const mostDebts = 10_000

/** What is owed; `rate` is in ms of work a second, so a millisecond lets `rate` µs of it wear off. */
const owed = (debt: Debt | undefined, rate: number, now: number): number =>
  debt === undefined ? 0 : Math.max(0, debt.ns - Math.max(0, now - debt.at) * rate * 1000)

/** True where so much is owed that the next work waits. */
const book = (debts: Map<string, Debt>, name: string, rate: number, ns: number, now: number): boolean => {
  let debt = debts.get(name)
  if (debt === undefined) {
    if (debts.size >= mostDebts) for (const [name, old] of debts) if (owed(old, rate, now) === 0) debts.delete(name)
    debts.set(name, (debt = { ns: 0, at: now }))
  }
  debt.ns = owed(debt, rate, now) + ns
  debt.at = now
  return debt.ns > rate * 1_000_000
}

/**
 * Shares the time of the main loop. One turn of the loop does at most one piece of the work that waits, and the
 * organisation that had least goes first. A holder that owes more than a second's allowance waits before each piece.
 */
export const loopTime = (clock: Pick<Clock, 'now'>) => {
  const [keys, organizations] = [new Map<string, Debt>(), new Map<string, Debt>()]
  const waiting = new Map<string, (() => void)[]>()
  let serving = false

  const serve = (): void => {
    let [next, least] = ['', Infinity]
    for (const organization of waiting.keys()) {
      const ns = owed(organizations.get(organization), 0, clock.now())
      if (ns < least) [next, least] = [organization, ns]
    }
    const theirs = waiting.get(next)
    const go = theirs?.shift()
    if (theirs?.length === 0) waiting.delete(next)
    go?.()
    serving = waiting.size > 0
    if (serving) setImmediate(serve)
  }
  const turn = (organization: string): Promise<void> =>
    new Promise((resolve) => {
      const theirs = waiting.get(organization)
      if (theirs === undefined) waiting.set(organization, [resolve])
      else theirs.push(resolve)
      if (serving) return
      serving = true
      setImmediate(serve)
    })

  return ({ organization, key }: LoopHolder, allowance: TimeAllowance): Pace => {
    let since = 0
    return {
      spend(ns) {
        const at = clock.now()
        const overKey = book(keys, key, allowance.key, ns, at)
        const over = book(organizations, organization, allowance.organization, ns, at) || overKey
        since += ns
        if (!over && since < turnNs) return null
        since = 0
        return turn(organization)
      },
    }
  }
}
