import { functions, many } from '../container.ts'
import type { GuardedCall } from './guard.ts'
import type { Chunk, Whole } from './upstream.ts'

/** The way of one chat through a filter: what goes out, and what comes back. */
export interface Passage {
  /** What goes out in place of this wording of the request; the same object when nothing changes. Throws to refuse. */
  request<T extends object>(body: T, signal: AbortSignal): Promise<T>
  answer(answer: Whole): Promise<Whole>
  /** Pieces wait only as long as the filter needs more. */
  chunks(chunks: AsyncIterable<Chunk>): AsyncIterable<Chunk>
  /** Words of the filter for the caller, each once, in the order in which they came. */
  marks(): readonly string[]
}

/** Sees and changes chats in the clear. */
export interface ChatFilter {
  /** Null for a chat that the filter leaves alone. */
  begin(call: GuardedCall): Passage | null
}

/** Requests pass the filters in their order, answers in reverse. */
export const ChatFilter = many<ChatFilter>('ChatFilter', functions('begin'))

/** The way through all filters; null where none looks at the chat. */
export const passageThrough = (filters: readonly ChatFilter[], call: GuardedCall): Passage | null => {
  const passages = filters.map((filter) => filter.begin(call)).filter((passage) => passage !== null)
  const [first = null] = passages
  if (passages.length < 2) return first
  const back = passages.toReversed()
  return {
    async request(body, signal) {
      let current = body
      for (const passage of passages) current = await passage.request(current, signal)
      return current
    },
    async answer(answer) {
      let current = answer
      for (const passage of back) current = await passage.answer(current)
      return current
    },
    chunks: (chunks) => back.reduce((current, passage) => passage.chunks(current), chunks),
    marks: () => passages.flatMap((passage) => passage.marks()),
  }
}
