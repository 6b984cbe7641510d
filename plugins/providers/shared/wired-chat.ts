import { UpstreamFailed } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { ChatAnswer, ChatWire, Completion, Dialect, Whole, WireEvents } from '../../../core/ports/upstream.ts'
import { exactOf, keptOf, readBytes } from '../../shared/backend.ts'
import { soon } from '../../../core/ports/soon.ts'
import { type Streams, beginsStream, itemsBy, mustBeEvents } from './event-items.ts'
import { printNow } from '../../shared/print-json.ts'

/** One chat of a backend: the request, and the readers of the answer. */
export interface WiredChat {
  readonly body: JsonObject
  /** Whether the answer goes on in the backend's dialect. */
  readonly isNative: boolean
  /** Throws UpstreamFailed for a whole answer that is none. */
  whole(answer: JsonObject): Whole
  events(status: number): WireEvents
  /** By the type of an answer; server-sent events alone when absent. */
  readonly streams?: Streams
}

/** Throws UpstreamFailed for a prefix, which the backend cannot continue. */
export const refusePrefix = (prefix: string | undefined): void => {
  if (prefix !== undefined)
    throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
}

/** A whole answer, which also goes on as it came where the call was in the backend's dialect. */
export const completedBy = (completion: Completion, body: JsonObject, dialect: Dialect | null): Whole =>
  dialect === null
    ? { kind: 'completion', completion }
    : { kind: 'completion', completion, native: { dialect, body, headers: {} } }

/** The answer by promises. */
export const answerBy = async (
  { isNative, whole, events, streams = mustBeEvents }: WiredChat,
  answer: Answer,
  stream: boolean,
  clock: Clock,
): Promise<ChatAnswer> => {
  if (!stream || !beginsStream(answer, streams))
    return whole(await (isNative ? keptOf : exactOf)(await readBytes(answer), answer.status))
  return { kind: 'chunks', chunks: itemsBy(answer, clock, events(answer.status)) }
}

/** The answer by calls in place of promises. */
export const wireBy = (
  { body, isNative, whole, events, streams = mustBeEvents }: WiredChat,
  { url, headers, push }: Pick<ChatWire, 'url' | 'headers' | 'push'>,
  meant?: ChatWire['meant'],
): ChatWire => {
  const wire: ChatWire = {
    url,
    headers,
    push,
    body: (texts) => printNow(body, texts),
    streams,
    whole: (bytes, status) => soon((isNative ? keptOf : exactOf)(bytes, status), whole),
    events,
  }
  return meant === undefined ? wire : { ...wire, meant }
}
