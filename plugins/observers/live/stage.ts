import { TooMany } from '../../../core/errors.ts'
import type { Siblings } from '../../../core/ports/cluster.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import type { BegunRequest, Trace } from '../../../core/ports/observer.ts'
import { type Channels, channelsOf } from './channels.ts'
import type { LiveRequest } from './live-request.ts'
import type { Batch, Part } from './sample.ts'
import { traceOf } from './trace.ts'
import { type Want, wantsOf } from './wants.ts'
import type { News, WatchedRequests } from './watched.ts'

/** Listeners of a process, and of one part. */
const mostListeners = 128
const mostOfPart = 64
/** Ms between two batches, and between two renewals of what is wanted of other processes. */
const pace = 250
const renewal = 5_000

interface LiveNeeds {
  readonly clock: Clock
  readonly random: Random
  readonly siblings: Siblings
}

/** What listeners watch, here and in other processes. */
export interface Stage extends WatchedRequests {
  /** Another process says what its listeners want. */
  hear(want: Want): void
  /** Another process hands on what is new there. */
  deliver(batch: Batch): void
}

/** A listener is shown at most so many requests a second, of all processes together. */
export const stageOf = ({ clock, random, siblings }: LiveNeeds, mostPerSecond: number): Stage => {
  const from = Buffer.from(random.bytes(16)).toString('hex')
  const wants = wantsOf(clock)
  let others = 0
  const ownShare = () => Math.max(1, Math.floor(mostPerSecond / (others + 1)))
  const channels = channelsOf(clock, () => Math.min(ownShare(), wants.perSecond()))
  let stop: (() => void) | null = null

  const tell = telling(siblings)
  const renewWants = async (): Promise<void> => {
    const parts = channels.wanted()
    const want = (): Want => ({ from, parts, perSecond: ownShare() })
    const before = ownShare()
    others = (await tell('live.want', want())).length
    // Others learn the share at once where more of them answer than before.
    if (ownShare() !== before) await tell('live.want', want())
  }

  const start = (): void => {
    if (stop !== null) return
    let renewed = clock.now()
    const beat = () => {
      channels.want(wants.parts())
      for (const batch of channels.flush()) void tell('live.batch', batch)
      if (channels.isEmpty()) return stop?.()
      if (channels.listeners() > 0 && clock.now() - renewed >= renewal) {
        renewed = clock.now()
        void renewWants()
      }
      alarm = clock.alarm(pace, beat)
    }
    let alarm = clock.alarm(pace, beat)
    stop = () => {
      stop = null
      alarm.off()
    }
  }

  return {
    hear(want) {
      wants.hear(want)
      channels.want(wants.parts())
      if (!channels.isEmpty()) start()
    },
    deliver: channels.deliver,
    isHeard: () => stop !== null,
    begin: (request) => begun(channels, clock, request),
    processes: () => others + 1,
    listen: (part, ms, signal) => heard({ channels, start, renewWants }, part, ms, signal),
    dispose: () => stop?.(),
  }
}

/** What other processes do not take is lost: the listeners see a sample. */
const telling =
  (siblings: Siblings) =>
  (question: string, value: unknown): Promise<readonly unknown[]> =>
    siblings.ask === undefined ? Promise.resolve([]) : siblings.ask(question, value).catch(() => [])

interface Listening {
  readonly channels: Channels
  start(): void
  renewWants(): Promise<void>
}

/** Leaves its channel when its reader stops, also after an error. */
async function* heard(
  { channels, start, renewWants }: Listening,
  part: Part,
  ms: number,
  signal: AbortSignal,
): AsyncGenerator<News> {
  refuseMore(channels, part)
  const { box, leave } = channels.join(part)
  start()
  try {
    await renewWants()
    yield { requests: [], passed: 0 }
    while (!signal.aborted) {
      const requests = await box.take(ms, signal)
      yield { requests, passed: box.passed() }
    }
  } finally {
    leave()
    if (channels.wanted().length === 0) void renewWants()
  }
}

/** Throws TooMany where a process, or one part of it, has listeners enough. */
const refuseMore = (channels: Channels, part: Part): void => {
  if (channels.listeners() >= mostListeners || channels.listeners(part) >= mostOfPart)
    throw new TooMany('Too many listeners', { retryAfter: renewal })
}

/** Null for a request outside of every sample. */
const begun = (channels: Channels, clock: Clock, request: BegunRequest): Trace | null => {
  const samples = channels.of(request.organization).filter((sample) => sample.takes(request.at))
  if (samples.length === 0) return null
  const { traceparent: _, ...seen } = request
  const shown: LiveRequest = {
    ...seen,
    model: null,
    backend: null,
    attempts: [],
    attempts_left_out: 0,
    first_token: null,
    tokens: null,
    status: null,
    ms: null,
  }
  const changed = () => samples.forEach((sample) => sample.changed(shown))
  changed()
  return traceOf(shown, () => clock.now(), changed)
}
