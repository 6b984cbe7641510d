import { Keepsakes } from '../../../core/access/keepsakes.ts'
import { responseEvents } from '../../../core/dialects/responses/events.ts'
import { translateResponses } from '../../../core/dialects/responses/request.ts'
import { ResponsesRequest } from '../../../core/dialects/responses/shape.ts'
import { events, json } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { sessionOf } from '../../../core/inference/routing/session.ts'
import { streamedAnswer, chatNeeds, wholeAnswer, type DialectChat } from '../../../core/inference/answer-chat.ts'
import { keyHeaders, waitingComment } from '../shared/dialect-route.ts'
import { asOpenai, openaiFaults } from './dialect-route.ts'

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
  async handle({ input, caller, headers, signal }, { keepsakes, clock, random, ...given }) {
    const seal = keepsakes.for(caller.organization)
    const talk: DialectChat = {
      caller,
      model: input.model,
      provider: null,
      session: sessionOf(headers, input.prompt_cache_key),
      understand: (to) => translateResponses(input, to, seal),
    }
    const now = () => Math.floor(clock.now() / 1000)
    const id = (kind: string) => `${kind}_${Buffer.from(random.bytes(20)).toString('hex')}`
    const created = now()
    const answering = (model: string) => responseEvents({ request: input, model, seal, created, now, id })
    if (input.stream !== true) {
      const { answer, model, headers } = await wholeAnswer(talk, given, signal)
      return json(answering(model).whole(answer.completion), 200, headers)
    }
    let writer = answering(input.model)
    const it = await streamedAnswer(talk, given, (model) => (writer = answering(model)), signal)
    return events(it.events, (error) => writer.broken(error), waitingComment, it.headers, it.late)
  },
})
