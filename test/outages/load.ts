import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, Family } from './families.ts'

export interface Answer {
  readonly family: Family
  /** On the clock of `performance`, like all moments here. */
  readonly began: number
  readonly ms: number
  /** The status, or what the last event of a stream said; 0 when there was no whole answer. */
  readonly code: number
  /** What is wrong with it, whatever its code. */
  readonly flaw: string | null
}

export interface Load {
  /** Of all that have ended so far. */
  readonly answers: readonly Answer[]
  /** When the oldest call began that has not ended; null when none is under way. */
  oldest(): number | null
  /** Begins no more, and waits for those that are under way. */
  stop(): Promise<void>
}

/** Begins so many calls a second, whether or not those before have ended: who waits shows in the times, not in the rate. */
export const loading = (calls: Readonly<Partial<Record<Family, Call>> & { live: Call }>, perSecond: number): Load => {
  const answers: Answer[] = []
  const open = new Map<object, number>()
  // What needs nothing of what may be away comes at every other turn: it tells how busy the machine is.
  const turns = (Object.entries(calls) as [Family, Call][]).flatMap((entry) => [entry, ['live', calls.live] as const])
  const first = performance.now()
  let begun = 0
  let stopped = false

  const begin = async ([family, call]: readonly [Family, Call]) => {
    const began = performance.now()
    const mark = {}
    open.set(mark, began)
    const { code, flaw } = await call().catch((fault: unknown) => ({ code: 0, flaw: causeOf(fault) }))
    open.delete(mark)
    answers.push({ family, began, ms: performance.now() - began, code, flaw })
  }
  const timer = setInterval(() => {
    // A process that was busy catches up, so that the rate is what was said.
    for (const due = ((performance.now() - first) * perSecond) / 1000; begun < due; begun++)
      void begin(turns[begun % turns.length]!)
  }, 5)

  return {
    answers,
    oldest: () => open.values().next().value ?? null,
    async stop() {
      if (!stopped) clearInterval(timer)
      stopped = true
      while (open.size > 0) await sleep(10)
    },
  }
}

const causeOf = (fault: unknown): string => {
  const { name, cause } = fault as Error
  return (cause as { code?: string } | undefined)?.code ?? name
}
