import { ChatRequest } from '../../../core/dialects/chat-completions.ts'
import { route } from '../../../core/http/route.ts'
import { chatNeeds } from './chat-needs.ts'
import { lazy } from '../../../core/plugin.ts'
import type { Shown } from './answering.ts'
import { straightDoor } from './straight-door.ts'

const answering = lazy(() => import('./answering.ts'))

/** The route that answers a chat in the common format; `shown` words the chunks of a stream. */
export const chatCall = (shown: Shown) => {
  const { straight, answer } = straightDoor(async () => {
    const { commonTalk } = await answering()
    return { schema: ChatRequest, shown, talk: commonTalk(shown) }
  })
  return route({
    method: 'POST',
    path: '/std/chat/completions',
    summary: 'Answers a conversation, whole or as a stream of events.',
    access: { scope: 'chats.completion' },
    body: { read: 'relayed', schema: ChatRequest, bytes: ({ bodies }) => bodies.chat },
    needs: chatNeeds,
    straight,
    handle: answer,
  })
}
