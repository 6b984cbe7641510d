import { type Soon, isLater } from './soon.ts'

/** How a flow has ended; the fault of a clean end is null. */
export interface End {
  readonly fault: unknown
}

/** The end without a fault. */
export const cleanEnd: End = { fault: null }

/** Items that are taken as they come, without a promise for each. Who prefers promises reads a flow as any iterator. */
export abstract class Flow<T> implements AsyncIterableIterator<T, undefined> {
  /** A promise has told the fault, which the next ones don't. */
  #isTold = false

  /** The next item that is there; null for none. Never throws. */
  abstract ready(): T | null
  /** Asked when no item is there: null while more may come. */
  abstract ended(): End | null
  /** Calls `go` once, when an item or the end may be there; at once where that is so already. */
  abstract wait(go: () => void): void
  /** Drops the rest, and closes what the flow comes from. */
  abstract leave(): Soon<void>

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise(this.#settle)
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this.leave()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  readonly #settle = (give: (result: IteratorResult<T, undefined>) => void, refuse: (fault: unknown) => void): void => {
    const item = this.ready()
    if (item !== null) return give({ value: item, done: false })
    const end = this.ended()
    if (end === null) this.wait(() => this.#settle(give, refuse))
    else if (end.fault === null || this.#isTold) give({ value: undefined, done: true })
    else {
      this.#isTold = true
      refuse(end.fault)
    }
  }
}

/** Items of an iterator that has promises alone. */
class PulledFlow<T> extends Flow<T> {
  readonly #source: AsyncIterator<T>
  #item: T | null = null
  #end: End | null = null

  constructor(source: AsyncIterator<T>) {
    super()
    this.#source = source
  }

  ready(): T | null {
    const item = this.#item
    this.#item = null
    return item
  }

  ended(): End | null {
    return this.#end
  }

  wait(go: () => void): void {
    this.#source.next().then(
      ({ done, value }) => {
        if (done === true) this.#end = cleanEnd
        else this.#item = value
        go()
      },
      (fault: unknown) => {
        this.#end = { fault }
        go()
      },
    )
  }

  async leave(): Promise<void> {
    if (this.#end === null) await this.#source.return?.()
  }
}

/** The items as a flow. */
export const flowOf = <T>(items: AsyncIterable<T>): Flow<T> => {
  const source = items[Symbol.asyncIterator]()
  return source instanceof Flow ? (source as Flow<T>) : new PulledFlow(source)
}

/** Leaves a source whose end nobody waits for. */
export const leaveQuietly = (source: Flow<unknown>): void => {
  const left = source.leave()
  if (isLater(left)) left.catch(() => {})
}

/**
 * Gives each item to `take` as it comes, which gives a promise to be waited for, and true to leave the rest. Rejects with the
 * fault of the flow, or with what `take` throws.
 */
export const takeAll = <T>(flow: Flow<T>, take: (item: T) => Soon<boolean | void>): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (fault: unknown): void => {
      leaveQuietly(flow)
      reject(fault)
    }
    const go = (): void => {
      try {
        for (let item = flow.ready(); item !== null; item = flow.ready()) {
          const taken = take(item)
          if (isLater(taken)) return void taken.then(go, fail)
          if (taken === true) return resolve(flow.leave())
        }
      } catch (fault) {
        return fail(fault)
      }
      const end = flow.ended()
      if (end === null) flow.wait(go)
      else if (end.fault === null) resolve()
      else reject(end.fault)
    }
    go()
  })
