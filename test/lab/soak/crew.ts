import { setTimeout as sleep } from 'node:timers/promises'
import { SealgateError } from '../../../plugins/sealed/client/error.ts'
import { type Callers, tidied } from './callers.ts'
import type { Traffic } from './traffic.ts'

export interface Tally {
  readonly name: string
  /** Ms of each call that came to its end. */
  readonly times: number[]
  begun: number
  left: number
  /** How often each thing was not as it should be. */
  readonly wrong: Map<string, number>
}

export interface Crew {
  readonly tallies: readonly Tally[]
  /** Resolves when no call is under way; none begins until what it gives is called. */
  calm(): Promise<() => void>
  /** Calls until `over` says so. */
  work(workers: number, over: () => boolean): Promise<void>
}

/** Those who call: each family as often as it weighs, and `share` of its calls are left at a random moment. */
export const crewOf = (families: readonly Traffic[], callers: Callers, share: number): Crew => {
  const desks = families.map((family) => ({
    family,
    tally: { name: family.name, times: [], begun: 0, left: 0, wrong: new Map() } as Tally,
    pace: family.ms,
  }))
  const weight = families.reduce((sum, { weight }) => sum + weight, 0)
  let busy = 0
  let resting: Promise<void> | null = null

  const drawn = () => {
    const unheard = desks.find(({ tally }) => tally.begun === 0)
    if (unheard !== undefined) return unheard
    let lot = Math.random() * weight
    return desks.find(({ family }) => (lot -= family.weight) < 0) ?? desks[0]!
  }

  const call = async (desk: (typeof desks)[number]): Promise<void> => {
    const { family, tally } = desk
    const caller = callers.take()
    const leave = new AbortController()
    // Some calls are over before they are left, so more are told to leave as long as too few did.
    const leaves = tally.left < share * tally.begun++ && Math.random() < 0.7
    const timer = leaves ? setTimeout(() => leave.abort(new Error('Left')), Math.random() * desk.pace) : null
    const began = performance.now()
    const flawed = (flaw: string) => tally.wrong.set(flaw, (tally.wrong.get(flaw) ?? 0) + 1)
    caller.leave = leave.signal
    try {
      const flaw = await family.call(caller, leave.signal)
      if (flaw !== null) return void flawed(flaw)
      const took = performance.now() - began
      tally.times.push(took)
      desk.pace += (took - desk.pace) / 16
    } catch (error) {
      if (leave.signal.aborted) tally.left++
      else flawed(nameOf(error))
      caller.untidy ||= family.stores === true
    } finally {
      if (timer !== null) clearTimeout(timer)
      caller.leave = null
      if (caller.untidy) {
        caller.untidy = false
        await tidied(caller).catch((error: unknown) => flawed(`tidying: ${nameOf(error)}`))
      }
      callers.give(caller)
    }
  }

  const worker = async (over: () => boolean) => {
    while (!over()) {
      if (resting !== null) await resting
      busy++
      await call(drawn())
      busy--
    }
  }

  return {
    tallies: desks.map(({ tally }) => tally),
    async calm() {
      let go = () => {}
      resting = new Promise((resolve) => (go = resolve))
      while (busy > 0) await sleep(5)
      return () => {
        resting = null
        go()
      }
    },
    work: async (workers, over) => void (await Promise.all(Array.from({ length: workers }, () => worker(over)))),
  }
}

const nameOf = (error: unknown): string => {
  if (error instanceof SealgateError)
    return [error.fault, error.status, error.code, error.field, nameOf(error.cause ?? '')].filter(Boolean).join(' ')
  if (!(error instanceof Error)) return String(error)
  const code = (error as { code?: string }).code ?? error.message
  return error.cause === undefined ? code : `${code}: ${nameOf(error.cause)}`
}
