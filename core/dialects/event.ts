import type { Chunk } from '../ports/upstream.ts'

/** An event of a stream as a dialect names it. */
export interface DialectEvent {
  readonly event?: string
  readonly data: string
}

/** An event as it is sent; clients ignore a comment. */
export type ServerEvent = DialectEvent | { readonly comment: string }

/** One event as the standard writes it. */
export const printEvent = (event: ServerEvent): string => {
  if ('comment' in event) return `: ${event.comment}\n\n`
  const { event: name, data } = event
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return name === undefined ? `data: ${lines}\n\n` : `event: ${name}\ndata: ${lines}\n\n`
}

/** Takes events in the order of the stream. */
export interface EventSink {
  push(event: DialectEvent): unknown
}

/** Writes chunks as events of one dialect. */
export interface EventWriter {
  take(chunk: Chunk, into: EventSink): void
  /** Takes an event that differs from the last one by its text alone, and gives its number, if any; false to write it anew. */
  readonly again?: 'always' | ((words: string) => boolean | number)
  /** Writes the events behind the last chunk of a stream that ended well. */
  end(into: EventSink): void
}
