import { one } from '../container.ts'
import { lazy, plugin } from '../plugin.ts'
import { CurrentTrace, Observer } from '../ports/observer.ts'
import { Clock, Log, Random } from '../ports/platform.ts'
import { Settings } from '../settings.ts'
import { type Breakers, breakers } from './routing/breaker.ts'
import type { StraightCalls } from './calls.ts'
import type { Calls, ChatTask } from './task.ts'

export type { ChatTask, CountTask, Served, Task } from './task.ts'

/** Every call to a backend: who is asked, how long, how often, and what happens when it fails. */
export interface Inference extends Calls {
  /** Null until the first call has loaded the code. */
  now(): StraightCalls | null
  readonly breakers: Breakers
}

/** The port of all calls to backends. */
export const Inference = one<Inference>('Inference')

/** A start without a call never loads the code of calls, retries and streams. */
const calling = lazy(() => import('./calls.ts'))

/**
 * The breakers exist before the first call: operators may order a rest for a backend that nobody has asked.
 */
export const inference = plugin({
  port: Inference,
  name: 'inference',
  needs: { settings: Settings, clock: Clock, random: Random, log: Log, observers: Observer, traces: CurrentTrace },
  create: (supplied): Inference => {
    const all = breakers(supplied.settings.routing.breaker)
    let now: (Calls & StraightCalls) | null = null
    const calls = lazy(async () => (now = (await calling()).callsOf(supplied, all)))
    return {
      breakers: all,
      now: () => now,
      run: async (task, ask, signal) => (await calls()).run(task, ask, signal),
      stream: async (task, ask, signal) => (await calls()).stream(task, ask, signal),
      chat: (async (task: ChatTask, signal: AbortSignal) => (await calls()).chat(task, signal)) as Calls['chat'],
      count: async (task, signal) => (await calls()).count(task, signal),
    }
  },
})
