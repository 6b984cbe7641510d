import type { EventWriter, ServerEvent } from '../../../core/dialects/event.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import { through } from '../../shared/through.ts'
import type { Chunk } from '../../../core/ports/upstream.ts'

/** The answer of one call, chunk by chunk. */
export interface StreamedChunks {
  readonly chunks: AsyncIterable<Chunk>
  /** Sentences for the caller, which go out as comments before the next event. */
  readonly notes: string[]
  readonly writer: EventWriter
  /** Called with the first chunk. */
  began(): void
  /** Called however the stream ends. */
  settle(): void
}

/** Chunks as events, with the writer's last events after a clean end alone. */
export const printedEvents = ({ chunks, notes, writer, began, settle }: StreamedChunks): Flow<ServerEvent> => {
  let isFirst = true
  const print = (write: (into: ServerEvent[]) => void, into: ServerEvent[]): void => {
    if (notes.length > 0) into.push({ comment: notes.splice(0).join(', ') })
    try {
      write(into)
    } catch (fault) {
      // Nothing goes out of a chunk that the dialect can't express.
      into.length = 0
      throw fault
    }
  }
  return through<Chunk, ServerEvent>(chunks, {
    take(chunk, into) {
      if (isFirst) began()
      isFirst = false
      print((events) => writer.take(chunk, events), into)
    },
    end(into, fault) {
      if (fault !== null) throw fault
      print((events) => writer.end(events), into)
    },
    over: settle,
  })
}
