import { AsyncLocalStorage } from 'node:async_hooks'
import type { CurrentTrace, Trace } from '../ports/observer.ts'

/** A request under way; its trace is there once the caller is known. */
interface Followed {
  readonly trace: Trace | null
}

const open = new AsyncLocalStorage<Followed>()
let followers = 0

/** Follows the requests of one gateway while they are watched: following slows every promise of the process. */
export const following = () => {
  const own = {
    /** Whether a request was followed since the last rest. */
    follows: false,
    /** Runs the work so that everything it calls finds the request's trace. */
    run<T>(request: Followed, work: () => T): T {
      if (!own.follows) followers++
      own.follows = true
      return open.run(request, work)
    },
    rest(): void {
      if (!own.follows) return
      own.follows = false
      if (--followers === 0) open.disable()
    },
  }
  return own
}

export const currentTrace: CurrentTrace = () => open.getStore()?.trace ?? null
