import { BadRequest, TooMany, Unavailable, UpstreamFailed } from '../../errors.ts'
import type { Alarm, Clock, Random } from '../../ports/platform.ts'
import type { Outcome, BackendObserver } from '../../ports/backend-observer.ts'
import { lendController } from '../../abort.ts'
import type { Breaker, Pass } from './breaker.ts'
import type { Candidate } from '../models/catalog-entry.ts'
import { overflowOf } from './context-window.ts'
import type { Hedges } from './hedges.ts'
import type { EndAttempt, Trace } from '../../live/trace.ts'

export interface FailoverNeeds {
  readonly clock: Clock
  readonly random: Random
  readonly retries: number
  readonly hedges: Hedges
  breakerOf(id: string): Breaker
  readonly saw: BackendObserver['saw']
  /** Of the request, where it is listened to. */
  readonly trace?: Trace
}

export interface Plan<T> {
  /** Not empty; who is asked first, and after whom. */
  readonly order: readonly Candidate[]
  /** Ms for all attempts together. */
  readonly total: number
  /** Ms for one attempt. */
  readonly each: number
  /** True where the last in the order may take all that is left of `total`. */
  readonly patient?: boolean
  /** True where the answer is a stream, which begins with its first token. */
  readonly streams?: boolean
  /** True where the answer goes on with a broken stream. */
  readonly rescues?: boolean
  ask(candidate: Candidate, signal: AbortSignal): Promise<T>
  /** Lets go of an answer that came too late to be taken. */
  drop?(answer: T): void
  /** Told of every attempt after the first. */
  told?(backend: string, attempt: number): void
}

/** The receiver of the answer gives the pass back to the breaker. */
export interface Found<T> {
  readonly answer: T
  readonly candidate: Candidate
  readonly pass: Pass
  /** Ends what goes on of this attempt. */
  readonly controller: AbortController
}

export interface Search<T> {
  readonly found: Promise<Found<T>>
  /** Ends every attempt at once; `found` rejects with the reason unless it is settled. */
  stop(reason: unknown): void
}

interface Attempt {
  cancel(reason: unknown): void
}

const firstPause = 300
const longestPause = 5_000
/** Ms after which a full backend that names no time may be asked again. */
const unsaid = 2_000
const fullWords = 'The backends take no more requests for now'

/**
 * Asks one backend after another until one answers, under one deadline. Every backend is asked once before any is asked
 * again, with `retries` attempts after the first or as many as reach all.
 * The search retries a backend only after its pause, and only after a fault that may pass. When all backends answer 429,
 * the search throws TooMany. A prompt that is too long for a backend goes to the larger backends.
 */
export const askInTurn = <T>(
  { clock, random, retries, hedges, breakerOf, saw, trace }: FailoverNeeds,
  plan: Plan<T>,
): Search<T> => {
  const { order, total, each, ask, patient = false } = plan
  const most = Math.max(order.length, 1 + retries)
  const deadline = clock.now() + total
  /** The time at which a pausing backend may be asked again, by place in the order. */
  let peace: Map<number, number> | null = null
  const running = new Set<Attempt>()
  let [tried, asked] = [0, 0]
  let over = false
  let pause: Alarm | null = null
  let hedge: Alarm | null = null
  let last: unknown = null
  const overflow = overflowOf(order)
  let tooLong: unknown = null
  /** Whether all that answered are full, and whether no time helps any of them. */
  let isFull = true
  let isUsedUp = true
  let resolve!: (found: Found<T>) => void
  let reject!: (reason: unknown) => void

  const end = (reason: unknown) => {
    over = true
    pause?.off()
    hedge?.off()
    for (const attempt of running) attempt.cancel(reason)
  }

  const fail = (reason: unknown) => {
    if (over) return
    end(reason)
    reject(reason)
  }

  const launch = (at: number): boolean => {
    const candidate = order[at]!
    const breaker = breakerOf(candidate.id)
    const begun = clock.now()
    const pass = breaker.enter(begun)
    if (pass === null) return false
    const controller = lendController()
    const endAttempt = trace && beginAttempt(trace, candidate, plan, asked)
    let done = false
    const finish = (outcome: Outcome, fault: unknown = null) => {
      done = true
      limit.off()
      running.delete(attempt)
      saw(candidate.provider, outcome, clock.now() - begun, statusOf(fault), plan.streams)
      endAttempt?.(outcome, statusOf(fault))
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
      if (overflow.turns(candidate, fault)) {
        tooLong = fault
        if (running.size === 0) advance()
        return
      }
      last = fault
      isUsedUp &&= fault instanceof UpstreamFailed && fault.code === 'insufficient_quota'
      isFull &&= fault instanceof UpstreamFailed && (fault.answered === 429 || fault.code === 'insufficient_quota')
      if (!(fault instanceof UpstreamFailed) || !fault.again) return fail(fault)
      if (fault.retryAfter !== null) (peace ??= new Map()).set(at, clock.now() + fault.retryAfter)
      if (running.size === 0) advance()
    }
    const allowed = patient && at === order.length - 1 ? total : each
    const limit = clock.alarm(Math.max(1, Math.min(allowed, deadline - begun)), () =>
      lose(new UpstreamFailed(undefined, { again: true, cause: new Error('No answer in time') })),
    )
    running.add(attempt)
    if (++asked > 1) plan.told?.(candidate.provider, asked)
    ask(candidate, controller.signal).then((answer) => {
      if (done) return plan.drop?.(answer)
      finish('answered')
      // An error costs more than the rest of this, and mostly there is nobody to tell.
      end(running.size === 0 ? null : new Error('Another backend was faster'))
      resolve({ answer, candidate, pass, controller })
    }, lose)
    return true
  }

  const advance = () => {
    pause = null
    for (; tried < most; tried++) {
      const at = tried % order.length
      if (overflow.passesOver(order[at]!)) continue
      const now = clock.now()
      const round = tried - order.length
      const jitter = round < 0 ? 0 : random.fraction() * Math.min(longestPause, firstPause * 2 ** round)
      const wait = round < 0 ? 0 : Math.max(jitter, (peace?.get(at) ?? now) - now)
      if (now + wait >= deadline) continue
      if (wait >= 1) {
        // The pause is over when it rings, so the candidate is asked without looking at the clock again.
        pause = clock.alarm(Math.ceil(wait), () => {
          tried++
          if (!launch(at)) advance()
        })
        return
      }
      if (launch(at)) return void tried++
    }
    if (running.size > 0) return
    if (last === null) fail(tooLong ?? new Unavailable(undefined, { retryAfter: soonest() }))
    else fail(isFull ? full(last) : last)
  }

  /** The backend with the shortest pause determines the time of the next try. An exhausted account has no such time. */
  const full = (cause: unknown): TooMany => {
    if (isUsedUp) return new TooMany(fullWords, { code: 'insufficient_quota', cause })
    const left = [...(peace?.values() ?? [])].map((until) => Math.max(0, until - clock.now()))
    return new TooMany(fullWords, { retryAfter: left.length === 0 ? unsaid : Math.min(...left), cause })
  }

  const soonest = () => Math.min(...order.map(({ id }) => breakerOf(id).rest(clock.now())))

  const found = new Promise<Found<T>>((yes, no) => {
    resolve = yes
    reject = no
  })
  hedges.called()
  advance()
  if (hedges.after !== null && !over && order.length > 1) {
    hedge = clock.alarm(hedges.after, () => {
      if (running.size !== 1 || tried >= order.length || !hedges.take()) return
      while (tried < order.length && !launch(tried++)) continue
    })
  }
  return { found, stop: fail }
}

const beginAttempt = (trace: Trace, { provider, model }: Candidate, plan: Plan<unknown>, before: number): EndAttempt =>
  trace.asks({
    backend: provider,
    model,
    cause: before > 0 ? 'next' : plan.rescues ? 'rescue' : 'first',
    streams: plan.streams === true,
  })

/** With which the backend answered, if it did. */
export const statusOf = (fault: unknown): number | null => (fault instanceof UpstreamFailed ? fault.answered : null)

/** What a fault says of the backend. A refused request and a full queue are signs of life. */
export const judgeFault = (breaker: Breaker, pass: Pass, fault: unknown, now: number): void => {
  if (fault instanceof BadRequest) breaker.ok(pass)
  else if (fault instanceof TooMany || (fault instanceof UpstreamFailed && fault.answered === 429)) breaker.left(pass)
  else breaker.fault(pass, now)
}
