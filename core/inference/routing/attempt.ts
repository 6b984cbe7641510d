import type { Ability, Candidate } from '../models/catalog-entry.ts'
import { lendController } from '../../abort.ts'
import { BadRequest, Forbidden, TooMany, Unauthorized, UpstreamFailed } from '../../errors.ts'
import type { Outcome } from '../../ports/observer.ts'
import type { Clock } from '../../ports/platform.ts'
import type { Breaker, Pass } from './breaker.ts'

/** The receiver of the answer gives the pass back to the breaker. */
export interface Found<T, A extends Ability = never> {
  readonly answer: T
  readonly candidate: Candidate<A>
  readonly pass: Pass
  /** Ends what goes on of this attempt. */
  readonly controller: AbortController
}

/** One call to one backend. */
export interface Attempt {
  /** Ends the call; the attempt reports nothing any more. */
  cancel(reason: unknown): void
}

/**
 * All that one attempt needs. Either `answered` or `failed` is called, once, and neither after a
 * cancellation.
 */
export interface AttemptPlan<T, A extends Ability> {
  readonly candidate: Candidate<A>
  readonly breaker: Breaker
  readonly pass: Pass
  /** By the clock. */
  readonly begun: number
  /** Ms until the first answer. */
  readonly limit: number
  ask(candidate: Candidate<A>, signal: AbortSignal): Promise<T>
  /** Lets go of an answer that came too late to be taken. */
  drop?(answer: T): void
  /** Told once, with the ms since the beginning and the status of a failure. */
  ended(outcome: Outcome, ms: number, status: number | null): void
  answered(found: Found<T, A>, attempt: Attempt): void
  failed(fault: unknown, attempt: Attempt): void
}

/** Asks one backend within its limit. The attempt ends once: by an answer, by a fault or by its cancellation. */
export const beginAttempt = <T, A extends Ability>(plan: AttemptPlan<T, A>, clock: Clock): Attempt => {
  const { candidate, breaker, pass, begun } = plan
  const controller = lendController()
  let done = false
  const finish = (outcome: Outcome, fault: unknown = null) => {
    done = true
    limit.off()
    plan.ended(outcome, clock.now() - begun, statusOf(fault))
  }
  const attempt: Attempt = {
    cancel(reason) {
      finish('left')
      breaker.left(pass)
      controller.abort(reason)
    },
  }
  const lose = (fault: unknown) => {
    if (done) return
    finish('failed', fault)
    controller.abort(fault)
    judgeFault(breaker, pass, fault, clock.now())
    plan.failed(fault, attempt)
  }
  const limit = clock.alarm(plan.limit, () =>
    lose(new UpstreamFailed(undefined, { again: true, cause: new Error('No answer in time') })),
  )
  plan.ask(candidate, controller.signal).then((answer) => {
    if (done) return plan.drop?.(answer)
    finish('answered')
    plan.answered({ answer, candidate, pass, controller }, attempt)
  }, lose)
  return attempt
}

/** The status with which the backend answered; null when it did not. */
export const statusOf = (fault: unknown): number | null => (fault instanceof UpstreamFailed ? fault.answered : null)

/** What a fault says of the backend. Refused requests and credentials, full queues and spoilt answers are signs of life. */
export const judgeFault = (breaker: Breaker, pass: Pass, fault: unknown, now: number): void => {
  if (fault instanceof BadRequest) breaker.ok(pass)
  else if (fault instanceof Unauthorized || fault instanceof Forbidden) breaker.ok(pass)
  else if (fault instanceof UpstreamFailed && fault.backendWorks) breaker.ok(pass)
  else if (fault instanceof TooMany || (fault instanceof UpstreamFailed && fault.answered === 429)) breaker.left(pass)
  else breaker.fault(pass, now, fault)
}
