import type { EventWriter, ServerEvent } from '../../../core/dialects/event.ts'
import type { PromptIterator } from '../../../core/ports/prompt-iterator.ts'
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

/** The state of one printed stream. */
interface Printing extends Omit<StreamedChunks, 'chunks'> {
  readonly chunks: PromptIterator<Chunk>
  /** Events of the last chunk, and how many of them are given. */
  queue: ServerEvent[]
  given: number
  isFirst: boolean
  isOver: boolean
  /** What `ready` met, for the next `next`. */
  fault: { readonly reason: unknown } | null
}

/** Chunks as events, with the writer's last events after a clean end alone. */
export const printedEvents = ({
  chunks,
  ...it
}: StreamedChunks): AsyncIterableIterator<ServerEvent> & PromptIterator<ServerEvent> => {
  const printing: Printing = {
    ...it,
    ...{ chunks: chunks[Symbol.asyncIterator](), queue: [], given: 0, isFirst: true, isOver: false, fault: null },
  }
  const took = (result: IteratorResult<Chunk>) => afterChunk(printing, result, next)
  const broke = (reason: unknown): never => fail(printing, reason)
  const next = (): Promise<IteratorResult<ServerEvent>> => {
    const { fault, queue } = printing
    if (fault !== null) {
      printing.fault = null
      return Promise.reject(fault.reason)
    }
    if (printing.given < queue.length) return Promise.resolve(given(printing))
    if (printing.isOver) return Promise.resolve({ value: undefined, done: true })
    return printing.chunks.next().then(took, broke)
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next,
    ready: () => ready(printing),
    async return() {
      printing.isOver = true
      await printing.chunks.return?.()
      printing.settle()
      return { value: undefined, done: true }
    },
  }
}

const given = (printing: Printing): IteratorYieldResult<ServerEvent> => ({
  value: printing.queue[printing.given++]!,
  done: false,
})

const afterChunk = (
  printing: Printing,
  { done, value }: IteratorResult<Chunk>,
  next: () => Promise<IteratorResult<ServerEvent>>,
): IteratorResult<ServerEvent> | Promise<IteratorResult<ServerEvent>> => {
  if (printing.isFirst && !done) printing.began()
  printing.isFirst = false
  print(printing, done ? null : value)
  return printing.given < printing.queue.length ? given(printing) : next()
}

/** The next event of the chunks that are there. The first chunk is always waited for. */
const ready = (printing: Printing): ServerEvent | null => {
  while (printing.given === printing.queue.length) {
    const chunk = printing.isFirst || printing.isOver ? null : (printing.chunks.ready?.() ?? null)
    if (chunk === null) return null
    try {
      print(printing, chunk)
    } catch (reason) {
      printing.fault = { reason }
      return null
    }
  }
  return printing.queue[printing.given++]!
}

/** Prints a chunk, or the end in place of one. */
const print = (printing: Printing, chunk: Chunk | null): void => {
  const { notes, writer } = printing
  const queue: ServerEvent[] = (printing.queue = [])
  printing.given = 0
  if (notes.length > 0) queue.push({ comment: notes.splice(0).join(', ') })
  try {
    if (chunk !== null) return writer.take(chunk, queue)
    printing.isOver = true
    writer.end(queue)
    printing.settle()
  } catch (error) {
    // An answer that the dialect can't express is closed like a broken one.
    void printing.chunks.return?.()
    fail(printing, error)
  }
}

const fail = (printing: Printing, reason: unknown): never => {
  printing.isOver = true
  printing.queue = []
  printing.given = 0
  printing.settle()
  throw reason
}
