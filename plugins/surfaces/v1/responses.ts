import { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import { ResponsesRequest } from '../../shared/dialects/responses/shape.ts'
import { route } from '../../../core/http/route.ts'
import { chatNeeds, countNeeds } from '../shared/chat-needs.ts'
import { lazy } from '../../../core/lazy.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { asOpenai, keyHeaders, openaiFaults } from '../shared/dialect-route.ts'
import { straightDoor } from '../shared/straight-door.ts'

const answering = lazy(() => import('./answer-responses.ts'))

const { straight, answer } = straightDoor(async () => {
  const { responsesTalk } = await answering()
  return { schema: ResponsesRequest, talk: responsesTalk }
})

const count = route({
  method: 'POST',
  path: '/v1/responses/input_tokens',
  summary: 'Counts the tokens of a list of items by the model’s backend; x-sealgate-estimated marks an estimate.',
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  body: { read: 'relayed', schema: ResponsesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...countNeeds, keepsakes: Keepsakes, clock: Clock, random: Random },
  handle: async (request, given) => (await answering()).countResponses(request, given),
})

/** Codex tries a WebSocket first; its refusal by 426 leads Codex to plain HTTP at once. */
const create = route({
  method: 'POST',
  path: '/v1/responses',
  summary: 'Answers a list of items, whole or as a stream of events; nothing is stored.',
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  webSocket: 'refused',
  body: { read: 'relayed', schema: ResponsesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...chatNeeds, keepsakes: Keepsakes, clock: Clock, random: Random },
  straight,
  handle: answer,
})

/** Both routes take the same items, so that a count and its answer agree. */
export const responses = [create, count] as const
