import { ChatRequest } from '../dialects/chat-completions.ts'
import { route } from '../http/route.ts'
import { chatNeeds } from '../inference/chat-needs.ts'
import { lazy } from '../lazy.ts'
import type { Shown } from './chat/answering.ts'

const answering = lazy(() => import('./chat/answering.ts'))

/** The route that answers a chat in the common format; `shown` words the chunks of a stream. */
export const chatCall = (shown: Shown) =>
  route({
    method: 'POST',
    path: '/std/chat/completions',
    summary: 'Answers a conversation, whole or as a stream of events.',
    access: { scope: 'chats.completion' },
    body: { read: 'relayed', schema: ChatRequest, bytes: ({ bodies }) => bodies.chat },
    needs: chatNeeds,
    handle: async (request, given) => (await answering()).answered(request, given, shown),
  })
