import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { ChatAnswer, ChatWire, Completion, Dialect, WireEvents } from '../../../core/ports/upstream.ts'
import { keptObject, objectIn, readKept, readObject } from '../../shared/backend.ts'
import { itemsBy, mustBeEvents, mustBeOf } from './event-items.ts'
import { printNow } from '../../shared/print-json.ts'

export type Completed = Extract<ChatAnswer, { kind: 'completion' }>

/** One chat of a backend that answers a request for a stream by a stream alone: the request, and the readers of the answer. */
export interface WiredChat {
  readonly body: JsonObject
  /** Whether the answer goes on in the backend's dialect. */
  readonly isNative: boolean
  /** Throws UpstreamFailed for a whole answer that is none. */
  whole(answer: JsonObject): Completed
  events(status: number): WireEvents
  /** Throws UpstreamFailed for an answer that is no stream by its type; the type is that of server-sent events when absent. */
  check?(type: string, status: number): void
}

/** A whole answer, which also goes on as it came where the call was in the backend's dialect. */
export const completedBy = (completion: Completion, body: JsonObject, dialect: Dialect | null): Completed =>
  dialect === null
    ? { kind: 'completion', completion }
    : { kind: 'completion', completion, native: { dialect, body, headers: {} } }

/** The answer by promises. */
export const answerBy = async (
  { isNative, whole, events, check = mustBeEvents }: WiredChat,
  answer: Answer,
  stream: boolean,
  clock: Clock,
): Promise<ChatAnswer> => {
  if (!stream) return whole(await (isNative ? readKept : readObject)(answer))
  mustBeOf(answer, check)
  return { kind: 'chunks', chunks: itemsBy(answer, clock, events(answer.status)) }
}

/** The answer by calls in place of promises. */
export const wireBy = (
  { body, isNative, whole, events, check = mustBeEvents }: WiredChat,
  { url, headers, push }: Pick<ChatWire, 'url' | 'headers' | 'push'>,
  meant?: ChatWire['meant'],
): ChatWire => {
  const wire: ChatWire = {
    url,
    headers,
    push,
    body: (texts) => printNow(body, texts),
    streams(type, status) {
      check(type, status)
      return true
    },
    whole: (text, status, bytes) => whole(isNative ? keptObject(bytes, status) : objectIn(text, status)),
    events,
  }
  return meant === undefined ? wire : { ...wire, meant }
}
