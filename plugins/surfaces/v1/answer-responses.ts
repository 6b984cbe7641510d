import type { Caller } from '../../../core/access/caller.ts'
import type { Keepsakes } from '../../../core/access/keepsakes.ts'
import type { Supplied } from '../../../core/container.ts'
import { responseEvents } from '../../../core/dialects/responses/events.ts'
import { translateResponses } from '../../../core/dialects/responses/request.ts'
import type { ResponsesRequest } from '../../../core/dialects/responses/shape.ts'
import { type Reply, events, json } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import { sessionOf } from '../../../core/inference/routing/session.ts'
import { streamedAnswer, wholeAnswer, type DialectChat } from '../../../core/inference/answer-chat.ts'
import type { chatNeeds } from '../../../core/inference/chat-needs.ts'
import { waitingComment } from '../shared/dialect-route.ts'

interface Given extends Supplied<typeof chatNeeds> {
  readonly keepsakes: Keepsakes
  readonly clock: Clock
  readonly random: Random
}

/** The answer of a list of items, whole or as a stream of events. */
export const answerResponses = async (
  { input, caller, headers, signal }: Request<ResponsesRequest, unknown, Caller>,
  { keepsakes, clock, random, ...given }: Given,
): Promise<Reply> => {
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
}
