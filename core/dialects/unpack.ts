/** Takes what one read brought and adds what became whole to `into`; true when nothing more is to come. */
export type Unpack<T> = (read: Uint8Array, into: T[]) => boolean | void

export interface Ends {
  /** The reads are over without the unpacker having said so. Throws when that was too early. */
  cut?(): void
  /** The unpacker has said that it is over, whatever the reads still bring. Without this they are closed. */
  over?(reads: AsyncIterator<Uint8Array>): void
}

const end = { done: true, value: undefined } as const

/**
 * Many things from each read, given one by one without waiting in between. What was whole before a fault is given before it.
 * Written out because this runs for every token: a generator costs several times as much.
 */
export const unpack = <T>(
  source: AsyncIterable<Uint8Array>,
  take: Unpack<T>,
  { cut, over }: Ends = {},
): AsyncIterableIterator<T, undefined> => {
  let reads: AsyncIterator<Uint8Array> | null = null
  let queue: T[] = []
  let at = 0
  let closed = false
  let fault: { readonly reason: unknown } | null = null

  const leave = (it: AsyncIterator<Uint8Array>) => {
    it.return?.().catch(() => {})
  }

  const settle = ({ done, value }: IteratorResult<Uint8Array>): boolean => {
    if (closed) return true
    queue = []
    at = 0
    try {
      if (done) {
        closed = true
        cut?.()
      } else if (take(value, queue) === true) {
        closed = true
        ;(over ?? leave)(reads!)
      }
    } catch (reason) {
      fault = { reason }
      if (!closed) leave(reads!)
      closed = true
    }
    return closed || queue.length > 0
  }

  const give = (resolve: (result: IteratorResult<T, undefined>) => void, reject: (reason: unknown) => void): void => {
    if (at < queue.length) return resolve({ done: false, value: queue[at++]! })
    if (fault === null) return resolve(end)
    const { reason } = fault
    fault = null
    reject(reason)
  }

  const pull = (resolve: (result: IteratorResult<T, undefined>) => void, reject: (reason: unknown) => void): void => {
    if (closed || at < queue.length) return give(resolve, reject)
    reads ??= source[Symbol.asyncIterator]()
    reads.next().then(
      (result) => {
        if (settle(result)) give(resolve, reject)
        else pull(resolve, reject)
      },
      (reason) => {
        if (closed) return resolve(end)
        closed = true
        reject(reason)
      },
    )
  }

  return {
    next: () => new Promise(pull),
    async return() {
      const was = closed
      closed = true
      fault = null
      queue = []
      if (!was) await (reads ?? source[Symbol.asyncIterator]()).return?.()
      return end
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
