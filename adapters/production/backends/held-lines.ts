/** Something that evidence opened, such as a line to a backend. */
export interface Opened {
  /** In ms: the end of the evidence. */
  readonly ends: number
  /** Takes no new calls, and resolves after the running ones. */
  retire(): Promise<void>
  /** Ends the running calls. */
  close(): Promise<void>
}

/** A line with the number of its calls; a replaced line retires after its last call. */
export interface Held<T> {
  readonly line: T
  /** In ms: at this time the evidence counts no more. */
  readonly until: number
  calls: number
  replaced: boolean
}

/** Calls keep the line with which they began, while later calls get the newest one. */
export interface HeldLines<T> {
  /** The newest line; null when none counts at this time, in Unix ms. */
  standing(now: number): Held<T> | null
  /** Puts this line in the place of the one before. */
  hold(line: T, until: number): Held<T>
  /** Gives calls no line any more. */
  drop(): void
  /** Counts the call, so that the line outlives it. The rejection of the call passes on. */
  use<R>(held: Held<T>, call: (line: T) => Promise<R>): Promise<R>
  /** Ends the calls of all lines. */
  close(): Promise<void>
}

/** The newest line, and earlier lines for as long as their calls run. */
export const heldLines = <T extends Opened>(): HeldLines<T> => {
  let newest: Held<T> | null = null
  const alive = new Set<T>()

  /** A stream goes on after its call, and retiring waits for it. */
  const retireUnused = ({ line, calls, replaced }: Held<T>): void => {
    const forget = () => alive.delete(line)
    // A line that is closed meanwhile has no more calls to wait for.
    if (replaced && calls === 0) void line.retire().then(forget, forget)
  }

  const replace = (next: Held<T> | null): void => {
    const before = newest
    newest = next
    if (before === null) return
    before.replaced = true
    retireUnused(before)
  }

  return {
    standing: (now) => (newest !== null && now < newest.until ? newest : null),
    hold(line, until) {
      const held = { line, until, calls: 0, replaced: false }
      alive.add(line)
      replace(held)
      return held
    },
    drop: () => replace(null),
    async use(held, call) {
      held.calls++
      try {
        return await call(held.line)
      } finally {
        held.calls--
        retireUnused(held)
      }
    },
    async close() {
      newest = null
      await Promise.all([...alive].map((line) => line.close()))
    },
  }
}
