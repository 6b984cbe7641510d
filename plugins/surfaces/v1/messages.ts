import { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import { CountRequest, MessagesRequest } from '../../shared/dialects/messages/shape.ts'
import { route } from '../../../core/http/route.ts'
import { chatNeeds, countNeeds } from '../shared/chat-needs.ts'
import { lazy } from '../../../core/plugin.ts'
import { Settings } from '../../../core/settings.ts'
import { asMessages, authorization, keyHeaders, messagesFaults } from '../shared/dialect-route.ts'
import { straightDoor } from '../shared/straight-door.ts'

const answering = lazy(() => import('./answer-messages.ts'))

const { straight, answer } = straightDoor(async () => {
  const { messagesTalk } = await answering()
  return { schema: MessagesRequest, talk: messagesTalk }
})

/** Anthropic's clients read the id of a request from `request-id`. */
const shared = {
  method: 'POST',
  access: { scope: 'chats.completion' },
  keyHeaders,
  authorization,
  errors: asMessages,
  faults: messagesFaults,
  headers: { 'request-id': '{id}' },
} as const

const create = route({
  ...shared,
  path: '/v1/messages',
  summary: 'Answers a conversation in the Messages dialect, whole or as a stream of events.',
  body: { read: 'relayed', schema: MessagesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...chatNeeds, keepsakes: Keepsakes, settings: Settings },
  straight,
  handle: answer,
})

const count = route({
  ...shared,
  path: '/v1/messages/count_tokens',
  summary: 'Counts the tokens of a conversation by the model’s backend; x-sealgate-estimated marks an estimate.',
  body: { read: 'relayed', schema: CountRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...countNeeds, keepsakes: Keepsakes, settings: Settings },
  handle: async (request, given) => (await answering()).countMessages(request, given),
})

/** Both routes take the same conversation, so that a count and its answer agree. */
export const messages = [create, count] as const
