import type { Clock } from '../../../core/ports/platform.ts'
import { type Mailbox, mailbox } from './mailbox.ts'
import { type Batch, type Part, type Sample, sampleOf } from './sample.ts'

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
