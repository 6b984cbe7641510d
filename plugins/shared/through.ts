import { type End, Flow, cleanEnd, flowOf, leaveQuietly } from '../../core/ports/flow.ts'
import { type Soon, isLater, soon } from '../../core/ports/soon.ts'

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
    if (!this.#fills() || this.#at === this.#queue.length) return null
    const item = this.#queue[this.#at++]!
    // An item may be large: none is held that was taken.
    if (this.#at === this.#queue.length) this.#empty()
    return item
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
    this.#empty()
    if (this.#end !== null) return
    return soon(this.#close(null), () => (this.#source ?? flowOf(this.#items)).leave())
  }

  #empty(): void {
    this.#queue = []
    this.#at = 0
  }

  /** True where an item or the end is there. */
  #fills(): boolean {
    while (this.#later === null && this.#at === this.#queue.length) {
      if (this.#end !== null) return true
      if (this.#source === null) return false
      const item = this.#source.ready()
      const end = item === null ? this.#source.ended() : null
      if (item === null && end === null) return false
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
