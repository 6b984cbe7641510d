import { Aborted, UpstreamFailed } from '../../errors.ts'
import type { Alarm, Clock } from '../../ports/platform.ts'
import type { Chunk, WireUsage } from '../../ports/upstream.ts'
import type { BackendProof } from '../../ports/backend-evidence.ts'
import type { BackendObserver } from '../../ports/backend-observer.ts'
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
import { judgeFault, statusOf, type Found, type Search } from './failover.ts'

/** A stream whose first token is there. */
export interface OpenedStream {
  readonly source: AsyncIterator<Chunk>
  /** What came up to the first token, in order. */
  readonly held: readonly Chunk[]
  readonly proven?: BackendProof
}

/** The facts of a stream, during the stream and after its end. */
export interface StreamState {
  /** Who answers; null until the first token. */
  backend: string | null
  /** The evidence of this backend; undefined when none was required. */
  proven?: BackendProof | undefined
  usage: WireUsage | null
  /** Characters of text so far, thoughts included. */
  size: number
  /** Each backend that was asked, in order. */
  readonly asked: string[]
  /** Attempts that the caller does not know of yet. */
  readonly notes: string[]
}

export interface StreamPlan {
  readonly clock: Clock
  /** Ms between two chunks. */
  readonly idle: number
  /** Ms that the whole may take. */
  readonly longest: number
  /** How often a broken stream may be gone on with. */
  readonly rescues: number
  /** How many finish reasons make the answer whole. */
  readonly choices: number
  /** Null where it may not be gone on with. */
  readonly given: StreamedSoFar | null
  readonly signal: AbortSignal
  readonly live: StreamState
  breakerOf(id: string): Breaker
  saw: BackendObserver['saw']
  /** Looks for a first token; with `after`, for one that goes on from what `given` holds. */
  search(after: Candidate | null): Search<OpenedStream>
}

/** Waits for the first token, so that whatever breaks before it can be tried elsewhere without the caller seeing anything. */
export const openStream = async (chunks: AsyncIterable<Chunk>): Promise<OpenedStream> => {
  const source = chunks[Symbol.asyncIterator]()
  const held: Chunk[] = []
  for (;;) {
    const { done, value } = await source.next()
    if (done) break
    held.push(value)
    if (speaks(value)) break
  }
  if (held.length === 0) throw new UpstreamFailed(undefined, { again: true, cause: new Error('An empty stream') })
  return { source, held }
}

const speaks = ({ choices }: Chunk): boolean => {
  for (const { delta, finish_reason } of choices) {
    if (finish_reason != null) return true
    for (const name in delta) if (name !== 'role' && delta[name] != null && delta[name] !== '') return true
  }
  return false
}

/** Stops reading without waiting for a source that is slow to close. */
export const leaveSource = (source: AsyncIterator<Chunk>): void => {
  source.return?.().catch(() => {})
}

/**
 * The one iterator between a provider's chunks and the route. It connects on the first `next`, watches the pauses, goes on
 * elsewhere when a stream breaks that can be rescued, and ends the upstream the moment the reader or the signal does.
 */
export const resilientStream = (course: StreamPlan): AsyncIterableIterator<Chunk> => {
  const { clock, signal, live, given } = course
  let search: Search<OpenedStream> | null = null
  let source: AsyncIterator<Chunk> | null = null
  let from: Candidate | null = null
  let pass: Pass = 'plain'
  let controller: AbortController | null = null
  let queue: readonly Chunk[] = []
  let queued = 0
  let woven: WeaveChunk | null = null
  let before: WireUsage | null = null
  let rescues = 0
  let unfinished = course.choices
  let begun = false
  let over = false
  let fault: unknown = null
  let watch: Alarm | null = null
  let limit: Alarm | null = null
  let give: ((result: IteratorResult<Chunk>) => void) | null = null
  let refuse: ((reason: unknown) => void) | null = null
  let took: (result: IteratorResult<Chunk>) => void
  let broke: (reason: unknown) => void

  const hand = (chunk: Chunk) => {
    const take = give!
    give = refuse = null
    take({ value: chunk, done: false })
  }

  /** After this nothing is asked, watched or given any more; a waiting reader learns how it ended. */
  const end = (reason: unknown) => {
    over = true
    watch?.off()
    limit?.off()
    signal.removeEventListener('abort', aborted)
    const [take, deny] = [give, refuse]
    give = refuse = null
    if (reason === null) take?.({ value: undefined, done: true })
    else if (deny) deny(reason)
    else fault = reason
  }

  const detach = (reason: unknown) => {
    if (source === null) return
    const left = source
    source = null
    controller!.abort(reason)
    leaveSource(left)
  }

  const stop = (reason: unknown, told: unknown) => {
    if (over) return
    over = true
    search?.stop(reason)
    if (source !== null) course.breakerOf(from!.id).left(pass)
    detach(reason)
    end(told)
  }

  const aborted = () => stop(signal.reason, signal.reason)

  const note = (chunk: Chunk) => {
    for (const { delta, finish_reason } of chunk.choices) {
      live.size += (delta.content?.length ?? 0) + (delta.reasoning_content?.length ?? 0)
      if (finish_reason != null) unfinished--
    }
    if (chunk.usage != null) live.usage = chunk.usage
    if (given !== null) rememberChunk(given, chunk)
  }

  /** The chunk as the caller gets it, or null when there is nothing in it to give. */
  const made = (chunk: Chunk): Chunk | null => {
    let it: Chunk | null = chunk
    if (woven !== null) it = woven(chunk)
    if (it !== null && before !== null && it.usage != null) it = { ...it, usage: sumUsage(before, it.usage) }
    if (it !== null) note(it)
    return it
  }

  const pull = () => {
    while (queued < queue.length) {
      const chunk = made(queue[queued++]!)
      if (chunk !== null) return hand(chunk)
    }
    if (watch === null) watch = clock.alarm(course.idle, late)
    else watch.again()
    source!.next().then(took, broke)
  }

  const late = () => {
    // A reader that is slow to ask is not the backend's fault.
    if (give !== null && source !== null)
      broke(new UpstreamFailed(undefined, { again: true, cause: new Error('The stream stands still') }))
    else watch = null
  }

  const attach = (found: Found<OpenedStream>) => {
    const { source: mine, held } = found.answer
    ;({ candidate: from, controller, pass } = found)
    source = mine
    const since = clock.now()
    // The reader may have left between the first token and now.
    if (over) {
      course.breakerOf(from.id).left(pass)
      return detach(new Aborted())
    }
    if (pass === 'probe') {
      course.breakerOf(from.id).ok(pass)
      pass = 'plain'
    }
    search = null
    queue = held
    queued = 0
    Object.assign(live, { backend: from.provider, proven: found.answer.proven })
    if (woven !== null) live.notes.push(`continued by ${from.provider}`)
    took = (result) => {
      if (source !== mine) return
      if (result.done) {
        source = null
        course.breakerOf(from!.id).ok(pass)
        return end(null)
      }
      const chunk = made(result.value)
      if (chunk === null) pull()
      else hand(chunk)
    }
    broke = (reason) => {
      if (source !== mine) return
      const now = clock.now()
      judgeFault(course.breakerOf(from!.id), pass, reason, now)
      course.saw(from!.provider, 'broke', now - since, statusOf(reason), true)
      detach(reason)
      // Whatever breaks behind the finish reason takes nothing away from the answer.
      if (unfinished <= 0) return end(null)
      if (reason instanceof UpstreamFailed && canGoOn()) rescue()
      else end(reason)
    }
    pull()
  }

  const canGoOn = () =>
    given !== null && !given.spoiled && !given.thinking && given.text !== '' && rescues < course.rescues

  const rescue = () => {
    rescues++
    watch?.off()
    watch = null
    before = live.usage ?? (before ? sumUsage(before, lostUsage(given!)) : lostUsage(given!))
    live.usage = null
    woven = weaveContinuation(given!)
    look(from)
  }

  const look = (after: Candidate | null) => {
    search = course.search(after)
    search.found.then(attach, (reason) => {
      if (!over) end(reason)
    })
  }

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      if (over) {
        const [reason, none] = [fault, null]
        fault = none
        return reason === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(reason)
      }
      return new Promise((resolve, reject) => {
        give = resolve
        refuse = reject
        if (begun) return pull()
        begun = true
        if (signal.aborted) return aborted()
        signal.addEventListener('abort', aborted, { once: true })
        limit = clock.alarm(course.longest, () => {
          const reason = new UpstreamFailed('The answer took too long')
          stop(reason, reason)
        })
        look(null)
      })
    },
    async return() {
      stop(new Aborted(), null)
      return { value: undefined, done: true }
    },
  }
}
