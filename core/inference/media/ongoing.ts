import { returnController } from '../../abort.ts'
import { UpstreamFailed } from '../../errors.ts'
import { type Flow, flowOf } from '../../ports/flow.ts'
import type { Clock } from '../../ports/platform.ts'
import type { Ongoing } from '../../ports/upstream.ts'

/** Waits for the first part, so that a backend that fails before it can be replaced. Throws UpstreamFailed where no part comes. */
export const onceBegun = async <Answer extends Ongoing<unknown>>(answer: Answer): Promise<Answer> => {
  const parts = flowOf(answer.parts)
  const first = await parts.next()
  if (first.done) throw new UpstreamFailed(undefined, { again: true, cause: new Error('An empty answer') })
  return { ...answer, parts: continued(first.value, parts) }
}

async function* continued<Part>(first: Part, rest: Flow<Part>): AsyncGenerator<Part, void> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.leave()
  }
}

/** How long an answer may be silent, and how long it may last. */
export interface OngoingLimits {
  readonly clock: Clock
  /** Ms between two parts. */
  readonly idle: number
  /** Ms that the whole may take. */
  readonly longest: number
}

/** The answer, ended by the caller's signal, by silence and by its length; the attempt's controller lives as long as it. */
export const withEnds = <Answer extends Ongoing<unknown>>(
  answer: Answer,
  controller: AbortController,
  signal: AbortSignal,
  bounds: OngoingLimits,
): Answer => {
  const leave = () => controller.abort(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const over = (whole: boolean) => {
    signal.removeEventListener('abort', leave)
    if (whole) returnController(controller)
    else controller.abort(new Error('The answer was left'))
  }
  return { ...answer, parts: watched(answer.parts, controller, bounds, over) }
}

async function* watched<Part>(
  parts: AsyncIterable<Part>,
  controller: AbortController,
  { clock, idle, longest }: OngoingLimits,
  over: (whole: boolean) => void,
): AsyncGenerator<Part, void> {
  const late = () => controller.abort(new UpstreamFailed(undefined, { cause: new Error('The answer takes too long') }))
  const limit = clock.alarm(longest, late)
  const source = flowOf(parts)
  let whole = false
  try {
    for (;;) {
      // A slow reader is no silent backend: the pause is measured while a part is awaited.
      const pause = clock.alarm(idle, late)
      const next = await source.next().finally(() => pause.off())
      if (next.done) return void (whole = true)
      yield next.value
    }
  } finally {
    limit.off()
    await source.leave()
    over(whole)
  }
}
