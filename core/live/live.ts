import { one } from '../container.ts'
import { TooMany } from '../errors.ts'
import { plugin } from '../plugin.ts'
import { Clock, Random } from '../ports/platform.ts'
import { Siblings } from '../ports/cluster.ts'
import { channelsOf } from './channels.ts'
import { startFollowing } from './following.ts'
import type { LiveRequest } from './live-request.ts'
import type { Batch, Part, PrintedRequest } from './sample.ts'
import { type Trace, traceOf } from './trace.ts'
import { type Want, wantsOf } from './wants.ts'

/** What a request is when its route and its caller are known. */
export interface BegunRequest {
  readonly id: string
  /** Unix time in ms. */
  readonly at: number
  readonly route: string
  /** Null for a request whose key was refused, as the next one. */
  readonly organization: string | null
  readonly key: string | null
}

export interface News {
  readonly requests: readonly PrintedRequest[]
  /** Requests that the listener did not see. */
  readonly passed: number
}

/** Requests as they run, for listeners. */
export interface Live {
  /** False when nobody listens: then nothing is kept of a request. */
  isHeard(): boolean
  /** Null for a request outside of every sample. */
  begin(request: BegunRequest): Trace | null
  /** Processes whose requests are seen here, this one included. */
  processes(): number
  /**
   * News of a part until the signal fires; empty ones at the beginning and after `ms` of silence. Throws TooMany at its
   * first step when there are too many listeners.
   */
  listen(part: Part, ms: number, signal: AbortSignal): AsyncIterable<News>
  dispose(): void
}

export const Live = one<Live>('Live')

/** Requests a second that a listener is shown, of all processes together. */
export const mostPerSecond = 50
/** Listeners of a process, and of one part. */
const mostListeners = 128
const mostOfPart = 64
/** Ms between two batches, and between two renewals of what is wanted of other processes. */
const pace = 250
const renewal = 5_000

export const live = plugin({
  port: Live,
  name: 'live',
  needs: { clock: Clock, random: Random, siblings: Siblings },
  create: ({ clock, random, siblings }): Live => {
    const from = Buffer.from(random.bytes(16)).toString('hex')
    const wants = wantsOf(clock)
    let others = 0
    const ownShare = () => Math.max(1, Math.floor(mostPerSecond / (others + 1)))
    const channels = channelsOf(clock, () => Math.min(ownShare(), wants.perSecond()))
    let stop: (() => void) | null = null

    /** What other processes do not take is lost: the listeners see a sample. */
    const tell = (question: string, value: unknown): Promise<readonly unknown[]> =>
      siblings.ask === undefined ? Promise.resolve([]) : siblings.ask(question, value).catch(() => [])
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
      const unfollow = startFollowing()
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
        unfollow()
      }
    }

    siblings.answer?.('live.want', (want) => {
      wants.hear(want as Want)
      channels.want(wants.parts())
      if (!channels.isEmpty()) start()
    })
    siblings.answer?.('live.batch', (batch) => channels.deliver(batch as Batch))

    const begin = (request: BegunRequest): Trace | null => {
      const samples = channels.of(request.organization).filter((it) => it.takes(request.at))
      if (samples.length === 0) return null
      const it: LiveRequest = {
        ...request,
        model: null,
        backend: null,
        attempts: [],
        attempts_left_out: 0,
        first_token: null,
        tokens: null,
        status: null,
        ms: null,
      }
      const changed = () => samples.forEach((sample) => sample.changed(it))
      changed()
      return traceOf(it, () => clock.now(), changed)
    }

    return {
      isHeard: () => stop !== null,
      begin,
      processes: () => others + 1,
      async *listen(part, ms, signal) {
        if (channels.listeners() >= mostListeners || channels.listeners(part) >= mostOfPart)
          throw new TooMany('Too many listeners', { retryAfter: renewal })
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
      },
      dispose: () => stop?.(),
    }
  },
})
