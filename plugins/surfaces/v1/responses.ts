import { Keepsakes } from '../../../core/access/keepsakes.ts'
import { ResponsesRequest } from '../../../core/dialects/responses/shape.ts'
import { route } from '../../../core/http/route.ts'
import { chatNeeds } from '../../../core/inference/chat-needs.ts'
import { lazy } from '../../../core/lazy.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { keyHeaders } from '../shared/dialect-route.ts'
import { asOpenai, openaiFaults } from './dialect-route.ts'

const answering = lazy(() => import('./answer-responses.ts'))

/** Codex tries a WebSocket first; its refusal by 426 leads Codex to plain HTTP at once. */
export const responses = route({
  method: 'POST',
  path: '/v1/responses',
  summary: 'Answers a list of items, whole or as a stream of events; nothing is stored.',
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  webSocket: 'refused',
  body: { read: 'json', schema: ResponsesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...chatNeeds, keepsakes: Keepsakes, clock: Clock, random: Random },
  handle: async (request, given) => (await answering()).answerResponses(request, given),
})
