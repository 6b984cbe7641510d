import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../access/caller.ts'
import type { JsonScan } from '../dialects/json-scan.ts'
import type { Pace } from '../dialects/loop-time.ts'
import type { ServerEvent } from '../dialects/event.ts'
import type { GatewayError } from '../errors.ts'
import type { RequestRecord } from '../ports/observer.ts'
import type { Clock } from '../ports/platform.ts'
import type { Linked } from './linked-list.ts'

/** A call whose time is looked at a few times in a second, in place of timers of its own. */
export interface BeatenCall extends Linked<BeatenCall> {
  /** Gives the ms until the next look that the call wants; a look may come earlier. */
  beat(now: number): number
}

/** The calls whose time is looked at. */
export interface CallClock {
  add(call: BeatenCall): void
  delete(call: BeatenCall): void
}

/** The answer of a straight call. Events are strings of Latin-1 that stand for bytes. */
export interface StraightAnswer {
  /** Gathered until the head is written. */
  readonly headers: Record<string, string | number>
  /** Ms of silence before the first event after which `waits` speaks, again and again. */
  readonly heartbeat: number
  whole(body: string | Uint8Array): void
  /** Whether the head is written. */
  readonly isBegun: boolean
  /** Writes the head of a stream, once. */
  begin(): void
  /** False while the reader is slow; `drained` is called when the reader has taken what waits. */
  write(events: string, drained: () => void): boolean
  /** A sign of life before the first event. */
  waits(): void
  /** With the head where it is not written yet. */
  end(events: string): void
  /** Whether the reader takes nothing. A reader that takes nothing for too long is cut. */
  isStalled(now: number): boolean
  /** Sends the rest of the events, with the head where it is not written yet. */
  send(
    events: AsyncIterable<ServerEvent>,
    late: () => Readonly<Record<string, string>>,
    broken: (error: GatewayError) => ServerEvent,
  ): Promise<void>
}

/** A request behind its key, whose body has not come yet. */
export interface StraightEntry {
  readonly record: RequestRecord
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>
  /** As it stands behind the path. */
  readonly query: string
  readonly caller: Caller
  readonly pace: Pace
  readonly clock: Clock
  readonly beats: CallClock
  readonly answer: StraightAnswer
}

/** A call that goes its way by events. */
export interface StraightCall {
  /** Who asks the first backend of a call that was taken: the call itself, the search, or one of them behind guards. */
  readonly first: 'all' | 'search' | 'guards'
  /** False where the call does not take the body: the long way goes on with the same body. */
  begin(scan: JsonScan): boolean
  /** The client has gone, or has all. */
  closed(whole: boolean): void
  resolve: () => void
  reject: (reason: unknown) => void
}
