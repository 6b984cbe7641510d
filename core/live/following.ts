import { AsyncLocalStorage } from 'node:async_hooks'
import { many } from '../container.ts'
import type { Trace } from './trace.ts'

/** A request under way; its trace is there once the caller is known. */
export interface Followed {
  readonly trace: Trace | null
}

/** The trace of the request for which the caller works; null outside of any that is listened to. */
export type CurrentTrace = () => Trace | null

/** The enclave has none: what happens inside stays inside. */
export const CurrentTrace = many<CurrentTrace>('CurrentTrace')

const open = new AsyncLocalStorage<Followed>()
let followers = 0

/** From now on requests are followed, until the function that this gives is called. */
export const startFollowing = (): (() => void) => {
  followers++
  let follows = true
  return () => {
    if (!follows) return
    follows = false
    // Following a request slows every promise of the process.
    if (--followers === 0) open.disable()
  }
}

/** Runs the work so that everything it calls finds the request's trace. */
export const follow = <T>(request: Followed, work: () => T): T => open.run(request, work)

export const currentTrace: CurrentTrace = () => open.getStore()?.trace ?? null
