import type { EventWriter, ServerEvent } from '../../../core/dialects/event.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { Served } from '../../../core/inference/task.ts'
import type { Passage } from '../../../core/ports/chat-filter.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import type { Chunks, Whole } from '../../../core/ports/upstream.ts'
import { askedHeaders } from './backend-headers.ts'
import { printedEvents } from './printed-events.ts'
import { marksOf } from './wordings.ts'

type Headers = Readonly<Record<string, string>>

/** A chat whose backend the search finds, on the long way and behind a straight one. */
export interface SearchedChat {
  readonly model: Entry
  /** Null when no filter looks at the chat. */
  readonly passage: Passage | null
  /** Settles the reservation; a null backend has answered nothing. */
  settle(served: Pick<Served, 'usage' | 'size' | 'backend' | 'by' | 'broken'>): void
  /** The first token has come. */
  began(): void
}

/** The whole answer as guards leave it, its use settled. An answer that a guard refuses was used too. */
export const searchedAnswer = async (
  { model, passage, settle }: SearchedChat,
  served: Served<Whole>,
): Promise<{ readonly answer: Whole; readonly headers: Headers }> => {
  settle(served)
  const answer = passage === null ? served.answer : await passage.answer(served.answer)
  return { answer, headers: { ...askedHeaders(model, served), ...marksOf(passage) } }
}

/** Events in the words of the caller's dialect, and the headers that are known when the first event goes. */
export interface SearchedEvents {
  readonly events: Flow<ServerEvent>
  late(): Headers
}

/** The same for a stream. */
export const searchedEvents = (
  { model, passage, settle, began }: SearchedChat,
  served: Served<Chunks>,
  writer: EventWriter,
): SearchedEvents => ({
  events: printedEvents({
    chunks: passage === null ? served.answer.chunks : passage.chunks(served.answer.chunks),
    ...{ notes: served.notes, writer, began },
    settle: () => settle(served),
  }),
  late: () => ({ ...askedHeaders(model, served), ...marksOf(passage) }),
})
