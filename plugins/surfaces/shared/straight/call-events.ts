import type { DialectEvent } from '../../../../core/dialects/event.ts'
import { type StreamedSoFar, rememberChunk } from '../../../../core/inference/routing/continue-stream.ts'
import { callSize } from '../../../../core/inference/metering/tokens.ts'
import { speaks } from '../../../../core/inference/routing/open-stream.ts'
import { type Chunk, countedSoFar, type WireUsage } from '../../../../core/ports/chat.ts'

/** The events of one stream, from the backend's bytes to those of the caller, as strings of Latin-1. */
export interface CallEvents {
  /** Whether something was said to the caller: until then another backend may answer. */
  readonly speaks: boolean
  /** Whether the end mark has come. */
  readonly isEnded: boolean
  /** Characters of texts, thoughts and what tools are called with. */
  readonly characters: number
  readonly usage: WireUsage | null
  /** Finish reasons that have yet to come. */
  readonly unfinished: number
  /** What another backend may go on from; null where none may. */
  soFar: StreamedSoFar | null
  /** What ended the reading; null while all is well. */
  readonly fault: unknown
  /** Whether the fault is that the caller's dialect can't word the answer. */
  readonly isUnspeakable: boolean
  /** What the caller gets of these bytes. */
  read(part: Buffer, status: number): string
  /** Throws UpstreamFailed where the stream is over too early. */
  cut(status: number): void
  /** The events behind the last chunk, as far as one turn of the loop writes them. */
  finish(): string
  /** Those that other turns write. */
  readonly rest: readonly DialectEvent[]
}

type Counted = 'speaks' | 'characters' | 'usage' | 'unfinished' | 'soFar'

/** Counts a chunk of the stream. */
export const countChunk = (stream: { -readonly [Name in Counted]: CallEvents[Name] }, chunk: Chunk): void => {
  for (const { delta, finish_reason } of chunk.choices) {
    stream.characters += (delta.content?.length ?? 0) + (delta.reasoning_content?.length ?? 0)
    if (delta.tool_calls != null) stream.characters += callSize(delta.tool_calls)
    if (finish_reason != null) stream.unfinished--
  }
  stream.usage = chunk.usage ?? chunk[countedSoFar] ?? stream.usage
  if (stream.soFar !== null) rememberChunk(stream.soFar, chunk)
  stream.speaks ||= speaks(chunk)
}
