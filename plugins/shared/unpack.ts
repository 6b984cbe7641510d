import type { PromptIterator } from '../../core/ports/prompt-iterator.ts'

/** Takes what one read brought and adds what became whole to `into`; true when nothing more is to come. */
export type Unpack<T> = (read: Uint8Array, into: T[]) => boolean | void

export interface Ends {
  /** The reads are over without the unpacker having said so. Throws when that was too early. */
  cut?(): void
  /** The unpacker has said that it is over, whatever the reads still bring. Without this they are closed. */
  over?(reads: AsyncIterator<Uint8Array>): void
}

const end = { done: true, value: undefined } as const

interface Unpacking<T> {
  readonly source: AsyncIterable<Uint8Array>
  readonly take: Unpack<T>
  readonly ends: Ends
  reads: PromptIterator<Uint8Array> | null
  /** What the last read brought, and how much of it is given. */
  queue: T[]
  at: number
  closed: boolean
  fault: { readonly reason: unknown } | null
}

type Give<T> = (result: IteratorResult<T, undefined>) => void
type Refuse = (reason: unknown) => void

/**
 * Many things from each read, given one by one without waiting in between. What was whole before a fault is given before it.
 * Written out because this runs for every token: a generator costs several times as much.
 */
export const unpack = <T>(
  source: AsyncIterable<Uint8Array>,
  take: Unpack<T>,
  ends: Ends = {},
): AsyncIterableIterator<T, undefined> & PromptIterator<T> => {
  const run: Unpacking<T> = { source, take, ends, reads: null, queue: [], at: 0, closed: false, fault: null }
  const start = (resolve: Give<T>, reject: Refuse): void => pull(run, resolve, reject)
  return {
    next: () => new Promise(start),
    ready: () => ready(run),
    async return() {
      const was = run.closed
      run.closed = true
      run.fault = null
      run.queue = []
      if (!was) await (run.reads ?? source[Symbol.asyncIterator]()).return?.()
      return end
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const pull = <T>(run: Unpacking<T>, resolve: Give<T>, reject: Refuse): void => {
  if (run.closed || run.at < run.queue.length) return give(run, resolve, reject)
  const reads = (run.reads ??= run.source[Symbol.asyncIterator]())
  reads.next().then(
    (result) => {
      if (settle(run, reads, result)) give(run, resolve, reject)
      else pull(run, resolve, reject)
    },
    (reason) => {
      if (run.closed) return resolve(end)
      run.closed = true
      reject(reason)
    },
  )
}

/** Takes what was read already as well: one read of a socket may bring many pieces. */
const ready = <T>(run: Unpacking<T>): T | null => {
  const { reads } = run
  while (run.at === run.queue.length) {
    const value = run.closed ? null : (reads?.ready?.() ?? null)
    if (reads === null || value === null) return null
    settle(run, reads, { done: false, value })
  }
  return run.queue[run.at++]!
}

const give = <T>(run: Unpacking<T>, resolve: Give<T>, reject: Refuse): void => {
  if (run.at < run.queue.length) return resolve({ done: false, value: run.queue[run.at++]! })
  if (run.fault === null) return resolve(end)
  const { reason } = run.fault
  run.fault = null
  reject(reason)
}

/** Takes what a read brought; true when there is something to give, or the end. */
const settle = <T>(
  run: Unpacking<T>,
  reads: AsyncIterator<Uint8Array>,
  { done, value }: IteratorResult<Uint8Array>,
): boolean => {
  if (run.closed) return true
  run.queue = []
  run.at = 0
  try {
    if (done) {
      run.closed = true
      run.ends.cut?.()
    } else if (run.take(value, run.queue) === true) {
      run.closed = true
      ;(run.ends.over ?? leave)(reads)
    }
  } catch (reason) {
    run.fault = { reason }
    if (!run.closed) leave(reads)
    run.closed = true
  }
  return run.closed || run.queue.length > 0
}

const leave = (reads: AsyncIterator<Uint8Array>): void => {
  reads.return?.().catch(() => {})
}
