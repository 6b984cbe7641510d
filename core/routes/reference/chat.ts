import { chatOperation, chatWords } from '../../calls/reference/chat.ts'
import type { Chapter } from '../../http/reference.ts'
import { catalogSample, catalogWords } from './decision.ts'

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
