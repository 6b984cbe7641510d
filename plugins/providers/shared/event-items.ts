import { freeTurn } from '../../../core/dialects/loop-time.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { Chunk, Dialect, WireEvents } from '../../../core/ports/upstream.ts'
import { finish, garbled, partBytes, turnBytes } from '../../shared/backend.ts'
import { type SseEvent, sseUnpacker } from '../../shared/sse.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import { through } from '../../shared/through.ts'

/** Adds what an event holds; true at the last one. Events without data are passed over. */
type Read<T> = (event: SseEvent, into: T[]) => boolean

/** Reads the items of one stream from its bytes, as `WireEvents` reads chunks. */
export interface ItemReader<T> {
  read(bytes: Uint8Array, into: T[]): boolean
  cut(): void
}

/** Whether a stream comes, and no whole answer in its place. Throws UpstreamFailed for an answer that is neither. */
export type Streams = (type: string, status: number) => boolean

/** Throws UpstreamFailed when the answer says of itself that it is no event stream. */
export const mustBeEvents: Streams = (type, status) => {
  if (!type.startsWith('text/event-stream')) throw garbled('The stream is none', status)
  return true
}

/** As `itemsOf`. Throws UpstreamFailed when the answer says of itself that it is no event stream. */
export const eventItems = <T>(answer: Answer, clock: Clock, read: Read<T>, cut: () => void): AsyncIterable<T> => {
  beginsStream(answer, mustBeEvents)
  return itemsOf(answer, clock, read, cut)
}

/** The same of an answer, which is closed where `streams` throws. */
export const beginsStream = (answer: Answer, streams: Streams): boolean => {
  try {
    return streams(answer.header('content-type') ?? '', answer.status)
  } catch (fault) {
    answer.discard()
    throw fault
  }
}

/** The events of a stream that ends well only behind its last event. */
export const markedEvents = (read: Read<Chunk>, status: number): WireEvents => ({
  forgets: ['content'],
  ...unpackedEvents(read, () => {
    throw garbled('The stream ended without its end mark', status)
  }),
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

/** Reads the events of a stream from its bytes. `cut` throws when the bytes were over too early. */
export const unpackedEvents = <T>(read: Read<T>, cut: () => void): ItemReader<T> => {
  const take = sseUnpacker()
  const events: SseEvent[] = []

  const pass = (into: T[]): boolean => {
    for (const event of events) if (event.data !== '' && read(event, into)) return true
    return false
  }

  return {
    read(bytes, into) {
      events.length = 0
      try {
        take(bytes, events)
      } catch (fault) {
        // What came before the fault is still good.
        if (pass(into)) return true
        throw fault
      }
      return pass(into)
    },
    cut,
  }
}

/** The items that `read` makes of the events of a stream. `cut` throws when the bytes were over too early. Closes the bytes when it is left early. */
export const itemsOf = <T>(answer: Answer, clock: Clock, read: Read<T>, cut: () => void): AsyncIterable<T> =>
  itemsBy(answer, clock, unpackedEvents(read, cut))

/** The items of an answer, as the reader finds them in its bytes. Closes the bytes when it is left early. */
export const itemsBy = <T>(answer: Answer, clock: Clock, reader: ItemReader<T>): Flow<T> => {
  /** Since other streams had their turn. */
  let length = 0
  return through(answer.body, {
    take(bytes, into: T[]) {
      const isLast = reader.read(bytes, into)
      length += bytes.length + partBytes
      if (length < turnBytes) return isLast
      length = 0
      return freeTurn().then(() => isLast)
    },
    end(_, fault) {
      if (fault !== null) throw fault
      reader.cut()
    },
    rest: (reads) => finish(reads, answer, clock),
  })
}
