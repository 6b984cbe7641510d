import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { ChatWire, Chunk, Dialect, WireEvents } from '../../../core/ports/upstream.ts'
import { finish, garbled } from '../../shared/backend.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { sseUnpacker, type SseEvent } from '../../shared/sse.ts'
import { unpack } from '../../shared/unpack.ts'
import { printNow } from './print-json.ts'

/** Adds what an event holds; true at the last one. Events without data are passed over. */
type Read<T> = (event: SseEvent, into: T[]) => boolean

/** Throws UpstreamFailed when the answer says of itself that it is no event stream. */
export const mustBeEvents = (type: string, status: number): void => {
  if (!type.startsWith('text/event-stream')) throw garbled('The stream is none', status)
}

/** As `itemsOf`. Throws UpstreamFailed when the answer says of itself that it is no event stream. */
export const eventItems = <T>(answer: Answer, clock: Clock, read: Read<T>, cut: () => void): AsyncIterable<T> => {
  try {
    mustBeEvents(answer.header('content-type') ?? '', answer.status)
  } catch (fault) {
    answer.discard()
    throw fault
  }
  return itemsOf(answer, clock, read, cut)
}

/** The wire of a backend that answers a request for a stream by events alone. */
export const eventWire = (
  line: Pick<ChatWire, 'url' | 'headers' | 'push'>,
  body: JsonObject,
  readers: Pick<ChatWire, 'whole' | 'events' | 'meant'>,
): ChatWire => ({
  ...line,
  body: () => printNow(body),
  streams(type, status) {
    mustBeEvents(type, status)
    return true
  },
  ...readers,
})

/** The events of a stream that ends well only behind its last event. */
export const markedEvents = (read: WireEvents['read'], status: number): WireEvents => ({
  read,
  cut() {
    throw garbled('The stream ended without its end mark', status)
  },
})

/** Characters of events that wait for the next chunk. */
const mostWaiting = 8 * 1024 * 1024

/** Gives the first chunk of each event all that came since the chunk before, so that it can go on as it came. */
export const withNative = (dialect: Dialect, read: Read<Chunk>): Read<Chunk> => {
  let waiting: { event?: string; data: string }[] = []
  let length = 0
  return ({ event, data }, into) => {
    const first = into.length
    length += data.length
    if (length > mostWaiting) throw garbled('Events without an end')
    waiting.push(event === null ? { data } : { event, data })
    const isLast = read({ event, data }, into)
    const chunk = into[first]
    if (chunk !== undefined) {
      into[first] = { ...chunk, native: { dialect, events: waiting } }
      waiting = []
      length = 0
    }
    return isLast
  }
}

/** The items that `read` makes of the events of a stream. `cut` throws when the bytes were over too early. Closes the bytes when it is left early. */
export const itemsOf = <T>(answer: Answer, clock: Clock, read: Read<T>, cut: () => void): AsyncIterable<T> => {
  const take = sseUnpacker()

  const pass = (events: readonly SseEvent[], into: T[]): boolean => {
    for (const event of events) if (event.data !== '' && read(event, into)) return true
    return false
  }

  return unpack<T>(
    answer.body,
    (bytes, into) => {
      const events: SseEvent[] = []
      try {
        take(bytes, events)
      } catch (fault) {
        // What came before the fault is still good.
        if (pass(events, into)) return true
        throw fault
      }
      return pass(events, into)
    },
    { cut, over: (reads) => finish(reads, answer, clock) },
  )
}
