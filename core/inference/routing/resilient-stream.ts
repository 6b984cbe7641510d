import { Aborted, UpstreamFailed } from '../../errors.ts'
import type { Alarm } from '../../ports/platform.ts'
import { type Chunk, countedSoFar, type WireUsage } from '../../ports/chat.ts'
import { callSize } from '../metering/tokens.ts'
import { type End, Flow, cleanEnd, leaveQuietly } from '../../ports/flow.ts'
import { judgeFault, statusOf, type Found } from './attempt.ts'
import type { Breaker, Pass } from './breaker.ts'
import type { Candidate } from '../models/catalog-entry.ts'
import type { StreamedSoFar, WeaveChunk } from './continue-stream.ts'
import { lostUsage, promptUsage, rememberChunk, sumUsage, weaveContinuation } from './continue-stream.ts'
import type { Search } from './failover.ts'
import type { OpenedStream } from './open-stream.ts'
import type { BrokenStream, StreamPlan } from './stream-plan.ts'

/** The stream of one backend, from its first token to its end. */
interface Leg {
  readonly source: Flow<Chunk>
  readonly candidate: Candidate<'chat'>
  readonly controller: AbortController
  readonly breaker: Breaker
  /** The time of its first token, by the clock. */
  readonly since: number
  pass: Pass
}

/**
 * The one flow between a provider's chunks and the route, over all legs of one answer. It connects when its first chunk is
 * waited for, watches the pauses, goes on elsewhere when a stream breaks that can be rescued, and ends the upstream the
 * moment the reader or the signal does.
 */
class ResilientStream extends Flow<Chunk> {
  readonly #plan: StreamPlan
  #search: Search<OpenedStream, 'chat'> | null = null
  #leg: Leg | null = null
  /** Chunks of the leg up to its first token, and how many of them are read. */
  #queue: readonly Chunk[] = []
  #queued = 0
  #woven: WeaveChunk | null = null
  /** The usage of earlier legs. */
  #before: WireUsage | null = null
  #rescues = 0
  /** Finish reasons that have yet to come. */
  #unfinished: number
  #begun = false
  #end: End | null = null
  /** The pause while a reader waits, and the longest time of all. */
  #watch: Alarm | null = null
  #limit: Alarm | null = null
  /** Tells the reader that waits; null while none does. */
  #go: (() => void) | null = null
  /** The chunk that a waiting reader gets. */
  #next: Chunk | null = null

  constructor(plan: StreamPlan) {
    super()
    this.#plan = plan
    this.#unfinished = plan.choices
  }

  ready(): Chunk | null {
    const next = this.#next
    this.#next = null
    return next ?? (this.#go === null ? this.#taken() : null)
  }

  ended(): End | null {
    return this.#end
  }

  wait(go: () => void): void {
    if (this.#end !== null) return go()
    this.#go = go
    if (this.#begun) this.#pull()
    else this.#begin()
  }

  leave(): void {
    this.#stop(new Aborted(), cleanEnd)
  }

  readonly #aborted = (): void => this.#stop(this.#plan.signal.reason, { fault: this.#plan.signal.reason })

  /** A stream that nobody reads costs no backend anything. */
  #begin(): void {
    const { signal, clock, longest, broken, given } = this.#plan
    this.#begun = true
    if (signal.aborted) return this.#aborted()
    signal.addEventListener('abort', this.#aborted, { once: true })
    this.#limit = clock.alarm(longest, () => {
      const fault = new UpstreamFailed('The answer took too long')
      this.#stop(fault, { fault })
    })
    if (broken === undefined) return this.#look(null)
    if (broken.fault instanceof UpstreamFailed && given !== null && this.#canGoOn(given))
      this.#rescue({ candidate: broken.candidate, given })
    else this.#close({ fault: broken.fault })
  }

  /** Searches for a backend: the first one, or with `broken` the next. */
  #look(broken: BrokenStream | null): void {
    this.#search = this.#plan.search(broken)
    this.#search.found.then(
      (found) => this.#attach(found),
      (fault: unknown) => {
        if (this.#end === null) this.#close({ fault })
      },
    )
  }

  /** Makes the found backend the source of the stream. A probe has proved its backend with the first token. */
  #attach({ answer, candidate, controller, pass }: Found<OpenedStream, 'chat'>): void {
    const { breakerOf, clock, live, given } = this.#plan
    const breaker = breakerOf(candidate.id)
    const leg: Leg = { source: answer.source, candidate, controller, breaker, since: clock.now(), pass }
    // The reader may have left between the first token and now.
    if (this.#end !== null) {
      breaker.left(pass)
      return closeLeg(leg, new Aborted())
    }
    if (pass === 'probe') {
      breaker.ok(pass)
      leg.pass = 'plain'
    }
    this.#search = null
    this.#leg = leg
    this.#queue = answer.held
    this.#queued = 0
    live.backend = candidate.provider
    live.by = candidate.id
    live.proven = answer.proven
    if (this.#woven !== null) live.notes.push(`continued by ${candidate.provider}`)
    if (this.#before !== null && given !== null) live.usage = sumUsage(this.#before, promptUsage(given))
    this.#pull()
  }

  /** The next chunk of those that are there: what came up to the first token, then what the leg has. */
  #taken(): Chunk | null {
    for (;;) {
      const chunk = this.#queue[this.#queued++] ?? this.#leg?.source.ready() ?? null
      if (chunk === null) return null
      try {
        const given = this.#made(chunk)
        if (given !== null) return given
      } catch (fault) {
        this.#stop(fault, { fault })
      }
    }
  }

  /** Gives the next chunk to the reader that waits. The pause is measured from here. */
  #pull(): void {
    const leg = this.#leg
    this.#next = this.#taken()
    if (this.#next !== null) return this.#wake()
    if (leg === null || this.#end !== null) return
    const end = leg.source.ended()
    if (end !== null && end.fault !== null) return this.#broke(leg, end.fault)
    if (end !== null) {
      this.#leg = null
      leg.breaker.ok(leg.pass)
      return this.#close(cleanEnd)
    }
    const { clock, idle } = this.#plan
    if (this.#watch === null) this.#watch = clock.alarm(idle, () => this.#late())
    else this.#watch.again()
    leg.source.wait(() => {
      // What comes of a leg that was left meanwhile is ignored.
      if (this.#leg === leg) this.#pull()
    })
  }

  #wake(): void {
    const go = this.#go
    this.#go = null
    go?.()
  }

  /** The chunk as the caller gets it, or null when there is nothing in it to give. */
  #made(chunk: Chunk): Chunk | null {
    const before = this.#before
    const soFar = chunk[countedSoFar]
    if (soFar !== undefined) this.#plan.live.usage = before === null ? soFar : sumUsage(before, soFar)
    let given = this.#woven === null ? chunk : this.#woven(chunk)
    if (given !== null && before !== null && given.usage != null)
      given = { ...given, usage: sumUsage(before, given.usage) }
    if (given !== null) this.#note(given)
    return given
  }

  /** Takes note of a chunk as the caller gets it, for the bill and for a rescue. */
  #note(chunk: Chunk): void {
    const { live, given } = this.#plan
    for (const { delta, finish_reason } of chunk.choices) {
      live.size += (delta.content?.length ?? 0) + (delta.reasoning_content?.length ?? 0)
      if (delta.tool_calls != null) live.size += callSize(delta.tool_calls)
      if (finish_reason != null) this.#unfinished--
    }
    if (chunk.usage != null) live.usage = chunk.usage
    if (given !== null) rememberChunk(given, chunk)
  }

  /** The backend was silent for `idle` ms while a reader waited. */
  #late(): void {
    const leg = this.#leg
    // A reader that is slow to ask is not the backend's fault.
    if (this.#go !== null && leg !== null)
      this.#broke(leg, new UpstreamFailed(undefined, { again: true, cause: new Error('The stream stands still') }))
    else this.#watch = null
  }

  /** The leg broke: the stream is rescued, or its reader learns the reason. */
  #broke(leg: Leg, fault: unknown): void {
    const { clock, saw, given } = this.#plan
    const now = clock.now()
    judgeFault(leg.breaker, leg.pass, fault, now)
    const { provider, model } = leg.candidate
    saw(provider, 'broke', now - leg.since, statusOf(fault), { model, streams: true, cause: null })
    this.#leg = null
    closeLeg(leg, fault)
    // A failure after the finish reason does not affect the answer.
    if (this.#unfinished <= 0) return this.#close(cleanEnd)
    if (fault instanceof UpstreamFailed && given !== null && this.#canGoOn(given))
      this.#rescue({ candidate: leg.candidate, given })
    else this.#close({ fault })
  }

  /** Thoughts and an empty text are no prefix that another backend could go on from. */
  #canGoOn({ spoiled, thinking, text }: StreamedSoFar): boolean {
    return !spoiled && !thinking && text !== '' && this.#rescues < this.#plan.rescues
  }

  /** Keeps the usage so far for the bill, and searches for a backend that goes on from the text. */
  #rescue(broken: BrokenStream): void {
    const { live } = this.#plan
    this.#rescues++
    this.#watch?.off()
    this.#watch = null
    live.usage = this.#before = lostUsage(broken.given, live.usage)
    live.broken = [...(live.broken ?? []), { by: broken.candidate.id, upTo: live.usage }]
    this.#woven = weaveContinuation(broken.given)
    this.#look(broken)
  }

  /** Ends the stream before its own end; `end` is what a waiting reader learns. */
  #stop(reason: unknown, end: End): void {
    if (this.#end !== null) return
    const leg = this.#leg
    this.#search?.stop(reason)
    this.#leg = null
    if (leg !== null) {
      leg.breaker.left(leg.pass)
      closeLeg(leg, reason)
    }
    this.#close(end)
  }

  /** After this nothing is asked, watched or given any more; a waiting reader learns how the stream ended. */
  #close(end: End): void {
    this.#end = end
    this.#queue = []
    this.#next = null
    this.#watch?.off()
    this.#limit?.off()
    this.#plan.signal.removeEventListener('abort', this.#aborted)
    this.#wake()
  }
}

/** Ends a leg at once. Its connection is closed, since the rest of the stream is of no use. */
const closeLeg = ({ controller, source }: Leg, reason: unknown): void => {
  controller.abort(reason)
  leaveQuietly(source)
}

/** The answer of one chat, whichever backends give it. */
export const resilientStream = (plan: StreamPlan): Flow<Chunk> => new ResilientStream(plan)
