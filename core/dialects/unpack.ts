import type { PromptIterator } from '../ports/prompt-iterator.ts'

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
  const it: Unpacking<T> = { source, take, ends, reads: null, queue: [], at: 0, closed: false, fault: null }
  const start = (resolve: Give<T>, reject: Refuse): void => pull(it, resolve, reject)
  return {
    next: () => new Promise(start),
    ready: () => ready(it),
    async return() {
      const was = it.closed
      it.closed = true
      it.fault = null
      it.queue = []
      if (!was) await (it.reads ?? source[Symbol.asyncIterator]()).return?.()
      return end
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const pull = <T>(it: Unpacking<T>, resolve: Give<T>, reject: Refuse): void => {
  if (it.closed || it.at < it.queue.length) return give(it, resolve, reject)
  const reads = (it.reads ??= it.source[Symbol.asyncIterator]())
  reads.next().then(
    (result) => {
      if (settle(it, reads, result)) give(it, resolve, reject)
      else pull(it, resolve, reject)
    },
    (reason) => {
      if (it.closed) return resolve(end)
      it.closed = true
      reject(reason)
    },
  )
}

/** Takes what was read already as well: one read of a socket may bring many pieces. */
const ready = <T>(it: Unpacking<T>): T | null => {
  const { reads } = it
  while (it.at === it.queue.length) {
    const value = it.closed ? null : (reads?.ready?.() ?? null)
    if (reads === null || value === null) return null
    settle(it, reads, { done: false, value })
  }
  return it.queue[it.at++]!
}

const give = <T>(it: Unpacking<T>, resolve: Give<T>, reject: Refuse): void => {
  if (it.at < it.queue.length) return resolve({ done: false, value: it.queue[it.at++]! })
  if (it.fault === null) return resolve(end)
  const { reason } = it.fault
  it.fault = null
  reject(reason)
}

/** Takes what a read brought; true when there is something to give, or the end. */
const settle = <T>(
  it: Unpacking<T>,
  reads: AsyncIterator<Uint8Array>,
  { done, value }: IteratorResult<Uint8Array>,
): boolean => {
  if (it.closed) return true
  it.queue = []
  it.at = 0
  try {
    if (done) {
      it.closed = true
      it.ends.cut?.()
    } else if (it.take(value, it.queue) === true) {
      it.closed = true
      ;(it.ends.over ?? leave)(reads)
    }
  } catch (reason) {
    it.fault = { reason }
    if (!it.closed) leave(reads)
    it.closed = true
  }
  return it.closed || it.queue.length > 0
}

const leave = (reads: AsyncIterator<Uint8Array>): void => {
  reads.return?.().catch(() => {})
}
