import type { Clock } from '../../../core/ports/platform.ts'
import { type Batch, type Part, type Sample, sampleOf, type PrintedRequest } from './sample.ts'

/** Listeners that are served at once, and the ms between two groups of them. */
const [boxesAtOnce, groupMs] = [5, 20]

/** One part with what is listened to of it, here and in other processes. */
interface Channel {
  readonly sample: Sample
  readonly boxes: Set<Mailbox>
}

/** The parts that are listened to. */
export interface Channels {
  /** The samples of the parts to which a request of this organisation belongs; null stands for no organisation. */
  of(organization: string | null): readonly Sample[]
  /** The number of listeners of this process, or of one part. */
  listeners(part?: Part): number
  /** A second `leave` does nothing. */
  join(part: Part): { readonly box: Mailbox; leave(): void }
  /** Other processes want these parts. */
  want(parts: ReadonlySet<Part>): void
  /** The parts that listeners of this process want. */
  wanted(): readonly Part[]
  /** Hands on what is new here, and gives what other processes want of it. */
  flush(): readonly Batch[]
  /** Hands on what is new in another process. */
  deliver(batch: Batch): void
  /** True when nobody listens, here or elsewhere: then the stage stops. */
  isEmpty(): boolean
}

/** `perSecond` is asked for each request, since the share of a process changes with the others. */
export const channelsOf = (clock: Clock, perSecond: () => number): Channels => {
  const all = new Map<Part, Channel>()
  let elsewhere: ReadonlySet<Part> = new Set()
  let listeners = 0

  const channelOf = (part: Part): Channel => {
    let channel = all.get(part)
    if (channel === undefined) all.set(part, (channel = { sample: sampleOf(part, perSecond), boxes: new Set() }))
    return channel
  }
  const drop = (part: Part): void => {
    if (all.get(part)?.boxes.size === 0 && !elsewhere.has(part)) all.delete(part)
  }
  /** A crowd is served in groups, so that no call waits for the writes to all of them. */
  const deliver = (batch: Batch): void => {
    const boxes = [...(all.get(batch.part)?.boxes ?? [])]
    for (let at = 0; at < boxes.length; at += boxesAtOnce) {
      const serve = () => boxes.slice(at, at + boxesAtOnce).forEach((box) => box.put(batch))
      if (at === 0) serve()
      else clock.alarm((at / boxesAtOnce) * groupMs, serve)
    }
  }

  return {
    of(organization) {
      const parts: readonly Part[] = organization === null ? [null] : [null, organization]
      return parts.flatMap((part) => all.get(part)?.sample ?? [])
    },
    listeners: (part) => (part === undefined ? listeners : (all.get(part)?.boxes.size ?? 0)),
    join(part) {
      const box = mailbox(clock)
      const { boxes } = channelOf(part)
      boxes.add(box)
      listeners++
      return {
        box,
        leave() {
          if (!boxes.delete(box)) return
          listeners--
          drop(part)
        },
      }
    },
    want(parts) {
      const before = elsewhere
      elsewhere = parts
      for (const part of parts) channelOf(part)
      for (const part of before) drop(part)
    },
    wanted: () => [...all].flatMap(([part, { boxes }]) => (boxes.size > 0 ? [part] : [])),
    flush() {
      const batches = [...all.values()].flatMap(({ sample }) => sample.batch() ?? [])
      for (const batch of batches) deliver(batch)
      return batches.filter(({ part }) => elsewhere.has(part))
    },
    deliver,
    isEmpty: () => all.size === 0,
  }
}

/** News for one listener. A listener that is slow finds the last state of each request, and of many only some. */
interface Mailbox {
  /** Replaces an earlier state of the same request, so that a slow listener holds no queue. */
  put(batch: Omit<Batch, 'part'>): void
  /** All that is new; empty after so many ms without news, or when the signal fires. */
  take(ms: number, signal: AbortSignal): Promise<readonly PrintedRequest[]>
  /** Requests that the listener did not see since the last call. */
  passed(): number
}

/** Requests that wait for a listener. */
const mostWaiting = 200

/** An empty mailbox. One listener at a time waits in `take`. */
const mailbox = (clock: Clock): Mailbox => {
  const waiting = new Map<string, PrintedRequest>()
  /** A batch that came alone: listeners that keep up share its list, and what is printed of it. */
  let alone: Batch['requests'] | null = null
  let passed = 0
  let wake: (() => void) | null = null

  const news = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        wake = null
        alarm.off()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const alarm = clock.alarm(ms, done)
      signal.addEventListener('abort', done, { once: true })
      wake = done
    })

  return {
    put(batch) {
      passed += batch.passed
      const isFirst = waiting.size === 0 && alone === null && batch.requests.length <= mostWaiting
      const more = alone === null ? batch.requests : [...alone, ...batch.requests]
      alone = isFirst && batch.requests.length > 0 ? batch.requests : null
      for (const request of alone === null ? more : [])
        if (waiting.size < mostWaiting || waiting.has(request.id)) waiting.set(request.id, request)
        else passed++
      wake?.()
    },
    async take(ms, signal) {
      if (alone === null && waiting.size === 0 && passed === 0 && !signal.aborted) await news(ms, signal)
      const all = alone ?? [...waiting.values()]
      alone = null
      waiting.clear()
      return all
    },
    passed() {
      const lost = passed
      passed = 0
      return lost
    },
  }
}
