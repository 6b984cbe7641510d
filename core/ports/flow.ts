import { type Soon, isLater, soon } from './soon.ts'

/** How a flow has ended; the fault of a clean end is null. */
export interface End {
  readonly fault: unknown
}

/** The end without a fault. */
export const cleanEnd: End = { fault: null }

/**
 * Items that are taken as they come, without a promise for each. Who prefers promises reads a flow as any iterator.
 */
export abstract class Flow<T> implements AsyncIterableIterator<T, undefined> {
  /** A promise has told the fault, which the next ones don't. */
  #isTold = false

  /** The next item that is there; null for none. Never throws. */
  abstract ready(): T | null
  /** Asked when no item is there: null while more may come. */
  abstract ended(): End | null
  /** Calls `go` once, when an item or the end is there; at once where that is so already. */
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

/** What becomes of the items of a flow. */
export interface Step<From, To> {
  /** Adds what becomes of the item; true where no more is wanted. Throws to end the flow, behind what was added. */
  take(item: From, into: To[]): Soon<boolean | void>
  /** Adds what stands at the end. Throws where the flow ends by a fault; a fault of the source does so when absent. */
  end?(into: To[], fault: unknown): Soon<void>
  /** Takes over what no more is wanted of; the source is left when absent. */
  rest?(source: Flow<From>): void
  /** Called once, however the flow ends. */
  over?(): Soon<void>
}

/** A flow of what becomes of another's items. The source is opened when its first item is waited for. */
class StepFlow<From, To> extends Flow<To> {
  readonly #items: AsyncIterable<From>
  readonly #step: Step<From, To>
  #source: Flow<From> | null = null
  #queue: To[] = []
  #at = 0
  #end: End | null = null
  /** A step that is waited for. */
  #later: Promise<void> | null = null

  constructor(items: AsyncIterable<From>, step: Step<From, To>) {
    super()
    this.#items = items
    this.#step = step
  }

  ready(): To | null {
    return this.#fills() && this.#at < this.#queue.length ? this.#queue[this.#at++]! : null
  }

  ended(): End | null {
    return this.#end
  }

  wait(go: () => void): void {
    if (this.#fills()) return go()
    if (this.#later !== null) return void this.#later.then(() => this.wait(go))
    this.#source ??= flowOf(this.#items)
    this.#source.wait(() => this.wait(go))
  }

  leave(): Soon<void> {
    this.#queue = []
    this.#at = 0
    if (this.#end !== null) return
    return soon(this.#close(null), () => (this.#source ?? flowOf(this.#items)).leave())
  }

  /** True where an item or the end is there. */
  #fills(): boolean {
    while (this.#later === null && this.#at === this.#queue.length) {
      if (this.#end !== null) return true
      if (this.#source === null) return false
      const item = this.#source.ready()
      const end = item === null ? this.#source.ended() : null
      if (item === null && end === null) return false
      this.#queue = []
      this.#at = 0
      if (item !== null) this.#take(this.#source, item)
      else if (end !== null) this.#ends(end.fault)
    }
    return this.#later === null
  }

  #take(source: Flow<From>, item: From): void {
    const { take, rest = leaveQuietly } = this.#step
    this.#does(
      () => take(item, this.#queue),
      (isLast) => {
        if (isLast !== true) return
        void this.#close(null)
        rest(source)
      },
      () => leaveQuietly(source),
    )
  }

  #ends(fault: unknown): void {
    const { end } = this.#step
    if (end === undefined) return void this.#close(fault)
    this.#does(
      () => end(this.#queue, fault),
      () => void this.#close(null),
    )
  }

  /** Does a step at once or later, and ends the flow by what the step throws. */
  #does<T>(step: () => Soon<T>, done: (result: T) => void, broken?: () => void): void {
    const breaks = (fault: unknown): void => {
      void this.#close(fault)
      broken?.()
    }
    try {
      const result = step()
      if (!isLater(result)) return done(result)
      const later = (go: () => void): void => {
        this.#later = null
        if (this.#end === null) go()
      }
      this.#later = result.then(
        (value) => later(() => done(value)),
        (fault: unknown) => later(() => breaks(fault)),
      )
    } catch (fault) {
      breaks(fault)
    }
  }

  #close(fault: unknown): Soon<void> {
    this.#end = fault === null ? cleanEnd : { fault }
    return this.#step.over?.()
  }
}

/** The flow of what becomes of these items. */
export const through = <From, To>(items: AsyncIterable<From>, step: Step<From, To>): Flow<To> =>
  new StepFlow(items, step)

/** Leaves a source whose end nobody waits for. */
export const leaveQuietly = (source: Flow<unknown>): void => {
  const left = source.leave()
  if (isLater(left)) left.catch(() => {})
}

/**
 * Gives each item to `take` as it comes, which gives a promise to be waited for, and true to leave the rest. Rejects with the
 * fault of the flow, which is left in any case.
 */
export const takeAll = <T>(flow: Flow<T>, take: (item: T) => Soon<boolean | void>): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (how: () => void, broken: (fault: unknown) => void = reject): void => {
      const left = flow.leave()
      if (isLater(left)) left.then(how, broken)
      else how()
    }
    const go = (): void => {
      try {
        for (;;) {
          const item = flow.ready()
          if (item === null) break
          const taken = take(item)
          if (isLater(taken)) return void taken.then(go, fail)
          if (taken === true) return leave(resolve)
        }
      } catch (fault) {
        return fail(fault)
      }
      const end = flow.ended()
      if (end === null) flow.wait(go)
      else if (end.fault === null) leave(resolve)
      else fail(end.fault)
    }
    const fail = (fault: unknown): void => {
      const tell = (): void => reject(fault)
      leave(tell, tell)
    }
    go()
  })
