import { UpstreamFailed } from '../../../../core/errors.ts'
import type { StraightEntry } from '../../../../core/http/route.ts'
import type { Settings } from '../../../../core/settings.ts'

/** What a look at the time of a call finds: the fault of a backend that is late, and the ms until the next look. */
export interface Look {
  readonly fault: UpstreamFailed | null
  readonly left: number
}

type Timeouts = Settings['timeouts']

const late = (sentence: string): UpstreamFailed =>
  new UpstreamFailed(undefined, { again: true, cause: new Error(sentence) })

/** Before the first token of a stream, or before a whole answer. */
export const lookAtAsking = (timeouts: Timeouts, streams: boolean, began: number, now: number): Look => {
  const left = began + (streams ? Math.min(timeouts.firstToken, timeouts.total) : timeouts.total) - now
  return { fault: left > 0 ? null : late('No answer in time'), left }
}

/** Behind the first token; `heard` is the time of the last bytes. */
export const lookAtFlowing = (timeouts: Timeouts, began: number, heard: number, now: number): Look => {
  const [most, quiet] = [began + timeouts.stream - now, heard + timeouts.idle - now]
  if (most <= 0) return { fault: new UpstreamFailed('The answer took too long'), left: 0 }
  return { fault: quiet > 0 ? null : late('The stream stands still'), left: Math.min(most, quiet) }
}

/** Signs of life before the first token of a stream. A class: each call makes one. */
export class SignsOfLife {
  #given = 0

  /** Gives a sign that is due after so many ms of the call, and the ms until the next one. */
  next(answer: StraightEntry['answer'], ms: number): number {
    const left = answer.heartbeat * (this.#given + 1) - ms
    if (left > 0) return left
    this.#given++
    answer.waits()
    return answer.heartbeat
  }
}
