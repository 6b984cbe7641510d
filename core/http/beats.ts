import type { Clock } from '../ports/platform.ts'
import { type LinkedList, append, linkedList, unlink } from './linked-list.ts'
import type { BeatenCall, CallClock } from './straight-call.ts'

/** Most ms between two looks at all calls. */
const beatMs = 200

/** One clock for all calls: a timer for each costs more than a look at all of them. It rests while there is no call. */
export class Beats implements CallClock {
  readonly #calls: LinkedList<BeatenCall> = linkedList()
  readonly #clock: Clock
  #isBeating = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(call: BeatenCall): void {
    append(this.#calls, call)
    if (!this.#isBeating) this.#arm(beatMs)
  }

  delete(call: BeatenCall): void {
    unlink(this.#calls, call)
  }

  #arm(ms: number): void {
    this.#isBeating = this.#calls.length > 0
    if (this.#isBeating) this.#clock.alarm(ms, () => this.#beat())
  }

  #beat(): void {
    const now = this.#clock.now()
    let next = beatMs
    for (let call = this.#calls.first; call !== null;) {
      const { behind }: BeatenCall = call
      next = Math.min(next, call.beat(now))
      call = behind
    }
    this.#arm(Math.max(1, Math.ceil(next)))
  }
}
