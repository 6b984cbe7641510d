import { Aborted, UpstreamFailed } from '../../errors.ts'
import type { Alarm } from '../../ports/platform.ts'
import type { Chunk, WireUsage } from '../../ports/upstream.ts'
import type { PromptIterator } from '../../ports/prompt-iterator.ts'
import { judgeFault, statusOf, type Found } from './attempt.ts'
import type { Breaker, Pass } from './breaker.ts'
import type { Candidate } from '../models/catalog-entry.ts'
import {
  lostUsage,
  rememberChunk,
  sumUsage,
  weaveContinuation,
  type StreamedSoFar,
  type WeaveChunk,
} from './continue-stream.ts'
import type { Search } from './failover.ts'
import { leaveSource, type OpenedStream } from './open-stream.ts'
import type { BrokenStream, StreamPlan } from './stream-plan.ts'

/** The stream of one backend, from its first token to its end. */
interface Leg {
  readonly source: PromptIterator<Chunk>
  readonly candidate: Candidate<'chat'>
  readonly controller: AbortController
  readonly breaker: Breaker
  /** The time of its first token, by the clock. */
  readonly since: number
  pass: Pass
  /** What `next` of the source leads to. Made once for a leg: it runs for every chunk. */
  took(result: IteratorResult<Chunk>): void
  broke(reason: unknown): void
}

/** The state of one answer, over all of its legs. */
interface Run {
  readonly plan: StreamPlan
  search: Search<OpenedStream, 'chat'> | null
  leg: Leg | null
  /** Chunks of the leg up to its first token, and how many of them are read. */
  queue: readonly Chunk[]
  queued: number
  woven: WeaveChunk | null
  /** The usage of earlier legs. */
  before: WireUsage | null
  rescues: number
  /** Finish reasons that have yet to come. */
  unfinished: number
  begun: boolean
  over: boolean
  /** The fault that the next `next` throws. */
  fault: unknown
  watch: Alarm | null
  limit: Alarm | null
  /** The reader that waits; null while none does. */
  give: ((result: IteratorResult<Chunk>) => void) | null
  refuse: ((reason: unknown) => void) | null
  /** Listens to the signal of the plan. */
  readonly aborted: () => void
}

/**
 * The one iterator between a provider's chunks and the route. It connects on the first `next`, watches the pauses, goes on
 * elsewhere when a stream breaks that can be rescued, and ends the upstream the moment the reader or the signal does.
 */
export const resilientStream = (plan: StreamPlan): AsyncIterable<Chunk> & PromptIterator<Chunk> => {
  const run: Run = {
    plan,
    search: null,
    leg: null,
    queue: [],
    queued: 0,
    woven: null,
    before: null,
    rescues: 0,
    unfinished: plan.choices,
    begun: false,
    over: false,
    fault: null,
    watch: null,
    limit: null,
    give: null,
    refuse: null,
    aborted: () => stop(run, plan.signal.reason, plan.signal.reason),
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      if (run.over) {
        const { fault } = run
        run.fault = null
        return fault === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(fault)
      }
      return new Promise((resolve, reject) => {
        run.give = resolve
        run.refuse = reject
        if (run.begun) pull(run)
        else begin(run)
      })
    },
    ready: () => ready(run),
    async return() {
      stop(run, new Aborted(), null)
      return { value: undefined, done: true }
    },
  }
}

/** Connects with the first `next`, so a stream that nobody reads costs no backend anything. */
const begin = (run: Run): void => {
  const { signal, clock, longest } = run.plan
  run.begun = true
  if (signal.aborted) return run.aborted()
  signal.addEventListener('abort', run.aborted, { once: true })
  run.limit = clock.alarm(longest, () => {
    const reason = new UpstreamFailed('The answer took too long')
    stop(run, reason, reason)
  })
  const { broken, given } = run.plan
  if (broken === undefined) return look(run, null)
  if (broken.fault instanceof UpstreamFailed && given !== null && canGoOn(run, given))
    rescue(run, { candidate: broken.candidate, given })
  else end(run, broken.fault)
}

/** Searches for a backend: the first one, or with `broken` the next. */
const look = (run: Run, broken: BrokenStream | null): void => {
  run.search = run.plan.search(broken)
  run.search.found.then(
    (found) => attach(run, found),
    (reason) => {
      if (!run.over) end(run, reason)
    },
  )
}

/** Makes the found backend the source of the stream. A probe has proved its backend with the first token. */
const attach = (run: Run, { answer, candidate, controller, pass }: Found<OpenedStream, 'chat'>): void => {
  const { breakerOf, clock, live } = run.plan
  const leg: Leg = {
    source: answer.source,
    candidate,
    controller,
    breaker: breakerOf(candidate.id),
    since: clock.now(),
    pass,
    took: (result) => took(run, leg, result),
    broke: (reason) => broke(run, leg, reason),
  }
  // The reader may have left between the first token and now.
  if (run.over) {
    leg.breaker.left(pass)
    return close(leg, new Aborted())
  }
  if (pass === 'probe') {
    leg.breaker.ok(pass)
    leg.pass = 'plain'
  }
  run.search = null
  run.leg = leg
  run.queue = answer.held
  run.queued = 0
  live.backend = candidate.provider
  live.by = candidate.id
  live.proven = answer.proven
  if (run.woven !== null) live.notes.push(`continued by ${candidate.provider}`)
  pull(run)
}

/** The next chunk that came up to the first token; null behind the last one. */
const fromQueue = (run: Run): Chunk | null => {
  while (run.queued < run.queue.length) {
    const held = run.queue[run.queued++]
    const chunk = held === undefined ? null : made(run, held)
    if (chunk !== null) return chunk
  }
  return null
}

/** The next chunk of those that are there; null where a reader waits already, or has to. */
const ready = (run: Run): Chunk | null => {
  if (run.over || run.give !== null || run.leg === null) return null
  const held = fromQueue(run)
  if (held !== null) return held
  const { source } = run.leg
  for (;;) {
    const next = source.ready?.() ?? null
    if (next === null) return null
    const chunk = made(run, next)
    if (chunk !== null) return chunk
  }
}

/** Gives the next chunk to the reader that waits. The pause is measured from here. */
const pull = (run: Run): void => {
  const { leg, plan } = run
  const held = fromQueue(run)
  if (held !== null) return hand(run, held)
  if (run.watch === null) run.watch = plan.clock.alarm(plan.idle, () => late(run))
  else run.watch.again()
  leg?.source.next().then(leg.took, leg.broke)
}

const hand = (run: Run, chunk: Chunk): void => {
  const { give } = run
  run.give = run.refuse = null
  give?.({ value: chunk, done: false })
}

/** The chunk as the caller gets it, or null when there is nothing in it to give. */
const made = (run: Run, chunk: Chunk): Chunk | null => {
  const { woven, before } = run
  let given: Chunk | null = chunk
  if (woven !== null) given = woven(chunk)
  if (given !== null && before !== null && given.usage != null)
    given = { ...given, usage: sumUsage(before, given.usage) }
  if (given !== null) note(run, given)
  return given
}

/** Takes note of a chunk as the caller gets it, for the bill and for a rescue. */
const note = (run: Run, chunk: Chunk): void => {
  const { live, given } = run.plan
  for (const { delta, finish_reason } of chunk.choices) {
    live.size += (delta.content?.length ?? 0) + (delta.reasoning_content?.length ?? 0)
    if (finish_reason != null) run.unfinished--
  }
  if (chunk.usage != null) live.usage = chunk.usage
  if (given !== null) rememberChunk(given, chunk)
}

/** A result of a leg that was left meanwhile is ignored. */
const took = (run: Run, leg: Leg, result: IteratorResult<Chunk>): void => {
  if (run.leg !== leg) return
  if (result.done) {
    run.leg = null
    leg.breaker.ok(leg.pass)
    return end(run, null)
  }
  const chunk = made(run, result.value)
  if (chunk === null) pull(run)
  else hand(run, chunk)
}

/** The backend was silent for `idle` ms while a reader waited. */
const late = (run: Run): void => {
  // A reader that is slow to ask is not the backend's fault.
  if (run.give !== null && run.leg !== null)
    run.leg.broke(new UpstreamFailed(undefined, { again: true, cause: new Error('The stream stands still') }))
  else run.watch = null
}

/** The leg broke: the stream is rescued, or its reader learns the reason. */
const broke = (run: Run, leg: Leg, reason: unknown): void => {
  if (run.leg !== leg) return
  const { clock, saw, given } = run.plan
  const now = clock.now()
  judgeFault(leg.breaker, leg.pass, reason, now)
  const { provider, model } = leg.candidate
  saw(provider, 'broke', now - leg.since, statusOf(reason), { model, streams: true, cause: null })
  run.leg = null
  close(leg, reason)
  // A failure after the finish reason does not affect the answer.
  if (run.unfinished <= 0) return end(run, null)
  if (reason instanceof UpstreamFailed && given !== null && canGoOn(run, given))
    rescue(run, { candidate: leg.candidate, given })
  else end(run, reason)
}

/** Thoughts and an empty text are no prefix that another backend could go on from. */
const canGoOn = ({ rescues, plan }: Run, { spoiled, thinking, text }: StreamedSoFar): boolean =>
  !spoiled && !thinking && text !== '' && rescues < plan.rescues

/** Keeps the usage so far for the bill, and searches for a backend that goes on from the text. */
const rescue = (run: Run, broken: BrokenStream): void => {
  const { live } = run.plan
  const { given } = broken
  run.rescues++
  run.watch?.off()
  run.watch = null
  run.before = live.usage ?? (run.before ? sumUsage(run.before, lostUsage(given)) : lostUsage(given))
  live.usage = null
  run.woven = weaveContinuation(given)
  look(run, broken)
}

/** Ends a leg at once. Its connection is closed, since the rest of the stream is of no use. */
const close = ({ controller, source }: Leg, reason: unknown): void => {
  controller.abort(reason)
  leaveSource(source)
}

/** Ends the stream before its own end; `answer` is what a waiting reader learns, null for an end without a fault. */
const stop = (run: Run, reason: unknown, answer: unknown): void => {
  if (run.over) return
  const { search, leg } = run
  run.over = true
  search?.stop(reason)
  run.leg = null
  if (leg !== null) {
    leg.breaker.left(leg.pass)
    close(leg, reason)
  }
  end(run, answer)
}

/** After this nothing is asked, watched or given any more; a waiting reader learns how it ended. */
const end = (run: Run, reason: unknown): void => {
  const { give, refuse, plan } = run
  run.over = true
  run.watch?.off()
  run.limit?.off()
  plan.signal.removeEventListener('abort', run.aborted)
  run.give = run.refuse = null
  if (reason === null) give?.({ value: undefined, done: true })
  else if (refuse !== null) refuse(reason)
  else run.fault = reason
}
