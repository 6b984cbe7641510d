import { GatewayError, TooMany, Unavailable, UpstreamFailed } from '../../errors.ts'
import { mostTurns, pauseFor, type Tries } from './tries.ts'
import type { Alarm, Clock, Random } from '../../ports/platform.ts'
import { beginAttempt, type Attempt, type Found } from './attempt.ts'
import type { Breaker } from './breaker.ts'
import type { Ability, Candidate } from '../models/catalog-entry.ts'
import { overflowOf, type Overflow } from './context-window.ts'
import type { Hedges } from './hedges.ts'
import type { AttemptStart, Saw, Trace } from '../../ports/observer.ts'

/** What a search needs of the gateway. */
export interface FailoverNeeds {
  readonly clock: Clock
  readonly random: Random
  /** Attempts after the first; more where the order has more backends. */
  readonly retries: number
  readonly hedges: Hedges
  breakerOf(id: string): Breaker
  readonly saw: Saw
  /** Of the request, where it is listened to. */
  readonly trace?: Trace
}

/** One search: who may be asked, how long, and how. */
export interface Plan<T, A extends Ability = never> {
  /** Not empty; who is asked first, and after whom. */
  readonly order: readonly Candidate<A>[]
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
  /** What the caller tells of its own retries; null or absent when it tells nothing. */
  readonly tries?: Tries
  /** The id of the request, for observers. */
  readonly request?: string | undefined
  /** The first attempt, which failed elsewhere. */
  readonly before?: { readonly candidate: Candidate<'chat'>; readonly fault: unknown; readonly began: number }
  ask(candidate: Candidate<A>, signal: AbortSignal): Promise<T>
  /** Lets go of an answer that came too late to be taken. */
  drop?(answer: T): void
  /** Told of every attempt after the first. */
  told?(backend: string, attempt: number): void
}

/** A search under way. `found` settles once, and no attempt runs on after that. */
export interface Search<T, A extends Ability = never> {
  readonly found: Promise<Found<T, A>>
  /** Ends every attempt at once; `found` rejects with the reason unless it is settled. */
  stop(reason: unknown): void
}

/** The state of one search. */
interface Course<T, A extends Ability> {
  readonly needs: FailoverNeeds
  readonly plan: Plan<T, A>
  /** Turns of all backends together. */
  readonly most: number
  /** The end of all attempts, by the clock. */
  readonly deadline: number
  readonly overflow: Overflow
  readonly running: Set<Attempt>
  /** Who waits for the answer; null at the end. */
  reader: Reader<T, A> | null
  /** Turns that are over, in the order of the plan and then again. */
  turns: number
  attempts: number
  /** The time at which a pausing backend may be asked again, by place in the order. */
  peace: Map<number, number> | null
  /** Places in the order whose backend refused in a way that no time heals. */
  hopeless: Set<number> | null
  pause: Alarm | null
  hedge: Alarm | null
  last: unknown
  tooLong: unknown
  /** The refusal of a backend for good; another backend that is still asked may answer. */
  refusal: unknown
  /** Whether all that answered are full, and whether no time helps any of them. */
  isFull: boolean
  isUsedUp: boolean
}

interface Reader<T, A extends Ability> {
  resolve(found: Found<T, A>): void
  reject(reason: unknown): void
}

/** Ms, doubled in each further round up to the longest. The true pause is a random part of it. */
const firstPause = 300
const longestPause = 5_000
/** Ms after which a full backend that names no time may be asked again. */
const unsaid = 2_000

/**
 * Asks one backend after another until one answers, under one deadline. Every backend is asked once before any is asked
 * again, with `retries` attempts after the first or as many as reach all.
 * The search retries a backend only after its pause, and only after a fault that may pass. When all backends answer 429,
 * the search throws TooMany, at once for a caller that tries again by itself. A prompt that is too long for a backend goes
 * to the larger backends.
 */
export const askInTurn = <T, A extends Ability>(needs: FailoverNeeds, plan: Plan<T, A>): Search<T, A> => {
  const { order, total } = plan
  const course: Course<T, A> = {
    needs,
    plan,
    most: mostTurns(order.length, needs.retries, plan.tries ?? null),
    deadline: (plan.before?.began ?? needs.clock.now()) + total,
    overflow: overflowOf(order),
    running: new Set(),
    reader: null,
    turns: 0,
    attempts: 0,
    peace: null,
    hopeless: null,
    pause: null,
    hedge: null,
    last: null,
    tooLong: null,
    refusal: null,
    isFull: true,
    isUsedUp: true,
  }
  const found = new Promise<Found<T, A>>((resolve, reject) => (course.reader = { resolve, reject }))
  needs.hedges.called()
  const { before } = plan
  if (before === undefined) advance(course)
  else {
    course.turns = course.attempts = 1
    judge(course, 0, before.candidate as unknown as Candidate<A>, before.fault)
  }
  startHedge(course)
  return { found, stop: (reason) => fail(course, reason) }
}

/** After a silence a second backend is asked, and the first answer of the two counts. */
const startHedge = <T, A extends Ability>(course: Course<T, A>): void => {
  const { needs, plan, running, reader } = course
  const { after, take } = needs.hedges
  if (after === null || reader === null || plan.order.length < 2) return
  course.hedge = needs.clock.alarm(after, () => {
    if (running.size !== 1 || course.turns >= plan.order.length || !take()) return
    while (course.turns < plan.order.length && !launch(course, course.turns++)) continue
  })
}

const end = <T, A extends Ability>(course: Course<T, A>, reason: unknown): void => {
  course.reader = null
  course.pause?.off()
  course.hedge?.off()
  for (const attempt of course.running) attempt.cancel(reason)
  course.running.clear()
}

const fail = <T, A extends Ability>(course: Course<T, A>, reason: unknown): void => {
  const { reader } = course
  if (reader === null) return
  end(course, reason)
  reader.reject(reason)
}

/** Gives the next backends their turn until one is asked, or until one has to be waited for. */
const advance = <T, A extends Ability>(course: Course<T, A>): void => {
  const { plan, overflow, needs, deadline } = course
  course.pause = null
  for (; course.turns < course.most; course.turns++) {
    // A caller that comes again by itself would multiply the requests that full backends refuse.
    if (course.turns >= plan.order.length && course.attempts > 0 && course.isFull && (plan.tries ?? null) !== null)
      break
    const at = course.turns % plan.order.length
    const candidate = plan.order[at]
    if (candidate === undefined || overflow.passesOver(candidate) || isLeftAlone(course, at, candidate)) continue
    const now = needs.clock.now()
    const wait = pauseBefore(course, at, now)
    if (now + wait >= deadline) continue
    if (wait >= 1) {
      // The pause is over when it rings, so the candidate is asked without looking at the clock again.
      course.pause = needs.clock.alarm(Math.ceil(wait), () => {
        course.turns++
        if (!launch(course, at)) advance(course)
      })
      return
    }
    if (launch(course, at)) return void course.turns++
  }
  if (course.running.size === 0) fail(course, faultOf(course))
}

/**
 * Whether the second round leaves the backend out, since no time heals its fault. Callers that retry by themselves also
 * skip a backend that fails for other calls.
 */
const isLeftAlone = <T, A extends Ability>(
  { plan, turns, needs, hopeless }: Course<T, A>,
  at: number,
  { id }: Pick<Candidate, 'id'>,
): boolean => {
  if (hopeless?.has(at)) return true
  const round = Math.floor(turns / plan.order.length)
  return round > 0 && plan.tries === 'uncounted' && needs.breakerOf(id).faultsInRow() > round
}

/** Ms before the backend at this place may be asked; 0 in the first round. */
const pauseBefore = <T, A extends Ability>(
  { plan, turns, peace, needs }: Course<T, A>,
  at: number,
  now: number,
): number => {
  const round = turns - plan.order.length
  if (round < 0) return 0
  const jitter = needs.random.fraction() * Math.min(longestPause, firstPause * 2 ** round)
  return Math.max(jitter, (peace?.get(at) ?? now) - now)
}

/** False where the breaker of the backend is open. */
const launch = <T, A extends Ability>(course: Course<T, A>, at: number): boolean => {
  const { needs, plan, running, deadline } = course
  const { clock, saw } = needs
  const { order, total, each, patient = false, ask, drop } = plan
  const candidate = order[at]
  if (candidate === undefined) return false
  const breaker = needs.breakerOf(candidate.id)
  const begun = clock.now()
  const pass = breaker.enter(begun)
  if (pass === null) return false
  const start = attemptStart(candidate, plan, course.attempts)
  const endAttempt = needs.trace?.asks(start)
  if (++course.attempts > 1) plan.told?.(candidate.provider, course.attempts)
  const allowed = patient && at === order.length - 1 ? total : each
  const attempt = beginAttempt<T, A>(
    {
      candidate,
      breaker,
      pass,
      begun,
      limit: Math.max(1, Math.min(allowed, deadline - begun)),
      ask,
      ...(drop && { drop }),
      ended(outcome, ms, status) {
        saw(candidate.provider, outcome, ms, status, start)
        endAttempt?.(outcome, status)
      },
      answered: (found, attempt) => take(course, found, attempt),
      failed(fault, attempt) {
        running.delete(attempt)
        judge(course, at, candidate, fault)
      },
    },
    clock,
  )
  running.add(attempt)
  return true
}

/** `before` is the number of attempts that this search has begun. */
const attemptStart = (
  { provider, model }: Candidate,
  { streams = false, rescues = false, request }: Pick<Plan<unknown>, 'streams' | 'rescues' | 'request'>,
  before: number,
): AttemptStart => {
  const cause = before > 0 ? 'next' : rescues ? 'rescue' : 'first'
  return { backend: provider, model, cause, streams, request }
}

const take = <T, A extends Ability>(course: Course<T, A>, found: Found<T, A>, attempt: Attempt): void => {
  const { reader, running } = course
  running.delete(attempt)
  // An error costs more than the rest of this, and mostly no other attempt runs.
  end(course, running.size === 0 ? null : new Error('Another backend was faster'))
  reader?.resolve(found)
}

/** What a fault means for the search: the next backend, or the end. */
const judge = <T, A extends Ability>(course: Course<T, A>, at: number, candidate: Candidate<A>, fault: unknown) => {
  const { overflow, running, needs } = course
  if (fault instanceof UpstreamFailed) fault.attempted = { backend: candidate.provider, model: candidate.model }
  if (overflow.turns(candidate, fault)) course.tooLong = fault
  else {
    // A fault that time heals tells the caller more than one that an operator has to mend.
    if (!isPassing(course.last) || isPassing(fault)) course.last = fault
    course.isUsedUp &&= fault instanceof UpstreamFailed && fault.code === 'insufficient_quota'
    course.isFull &&= fault instanceof UpstreamFailed && (fault.answered === 429 || fault.code === 'insufficient_quota')
    if (fault instanceof UpstreamFailed ? !fault.again : fault instanceof GatewayError) course.refusal ??= fault
    else if (!mayHeal(fault)) (course.hopeless ??= new Set()).add(at)
    else if (fault.retryAfter !== null) (course.peace ??= new Map()).set(at, needs.clock.now() + fault.retryAfter)
  }
  if (running.size > 0) return
  if (course.refusal === null) advance(course)
  else fail(course, course.refusal)
}

/** False where an operator has to mend the fault, and for an error of no class of faults. */
const mayHeal = (fault: unknown): fault is UpstreamFailed =>
  fault instanceof UpstreamFailed && (fault.status !== 502 || (fault.answered ?? 0) < 400)

const isPassing = (fault: unknown): fault is UpstreamFailed => fault instanceof UpstreamFailed && fault.status === 503

/** The fault of a search in which every backend had its turns. */
const faultOf = <T, A extends Ability>(course: Course<T, A>): unknown => {
  const { last, tooLong, isFull, needs, plan } = course
  if (last !== null) return isFull ? full(course) : withPause(course, last)
  const { clock, breakerOf } = needs
  const soonest = () => Math.min(...plan.order.map(({ id }) => breakerOf(id).rest(clock.now())))
  const lasting = plan.order.map(({ id }) => lastingFault(breakerOf(id).opener()))
  return (
    tooLong ?? (lasting.includes(null) ? null : lasting[0]) ?? new Unavailable(undefined, { retryAfter: soonest() })
  )
}

/** A fault that an operator has to mend, without the words that another caller met; null for any other. */
const lastingFault = (fault: unknown): UpstreamFailed | null =>
  fault instanceof UpstreamFailed && fault.status === 502 && fault.again
    ? new UpstreamFailed(undefined, { again: true, answered: fault.answered })
    : null

/** A fault that time heals, with the time of the next try. */
const withPause = <T, A extends Ability>(course: Course<T, A>, fault: unknown): unknown => {
  if (!isPassing(fault)) return fault
  const { message, again, answered, validator, told, cause, attempted } = fault
  const retryAfter = shortestPeace(course) ?? pauseFor(course.plan.tries ?? null)
  return Object.assign(new UpstreamFailed(message, { again, answered, validator, told, cause, retryAfter }), {
    attempted,
  })
}

/** Ms until the first of the pauses that backends named is over; null where none named one. */
const shortestPeace = <T, A extends Ability>({ peace, needs }: Course<T, A>): number | null => {
  if (peace === null) return null
  const now = needs.clock.now()
  return Math.min(...[...peace.values()].map((until) => Math.max(0, until - now)))
}

/** The backend with the shortest pause determines the time of the next try. An exhausted account has no such time. */
const full = <T, A extends Ability>(course: Course<T, A>): TooMany => {
  const { last, isUsedUp, plan } = course
  const sentence = 'The backends take no more requests for now'
  if (isUsedUp) return new TooMany(sentence, { code: 'insufficient_quota', cause: last, limit: 'backends' })
  // The only backend tells its own time, as without the gateway.
  const own = plan.order.length === 1 && last instanceof UpstreamFailed ? last.retryAfter : null
  const retryAfter = own ?? shortestPeace(course) ?? unsaid
  return new TooMany(sentence, { retryAfter, apart: own !== null, cause: last, limit: 'backends' })
}
