import { chatOperation, chatWords } from '../shared/chat-words.ts'
import type { Chapter } from '../../../core/ports/chapter.ts'
import { catalogSample, catalogWords } from '../shared/catalog-words.ts'

/** The chapter of chats. Its words are shared with surfaces that serve the same calls. */
export const chat: Chapter = {
  name: 'Chat',
  about: 'Chat in the common format. A client takes the address of the gateway with `/std` behind it as its base URL.',
  words: { ...chatWords, 'query.type': 'The kind of models to list.' },
  operations: {
    'POST /std/chat/completions': chatOperation,
    'GET /std/models': {
      about: 'Prices are those of the plane in the clear.',
      query: { type: 'CHAT' },
      answer: catalogSample,
      words: catalogWords,
    },
  },
}
