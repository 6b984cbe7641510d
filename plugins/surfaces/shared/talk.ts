import type { Caller } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import type { DialectEvent, EventWriter } from '../../../core/dialects/event.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { type Reply, events, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Soon } from '../../../core/ports/soon.ts'
import { streamedAnswer, wholeAnswer, type WholeAnswer } from './answer-chat.ts'
import type { DialectChat } from './dialect-chat.ts'
import type { chatNeeds } from './chat-needs.ts'
import { waitingComment } from './dialect-route.ts'

/** What a talk is made of. */
export type Asked<Input> = Pick<
  Request<Input, unknown, Caller>,
  'id' | 'record' | 'input' | 'caller' | 'headers' | 'params' | 'pace'
>

/** A chat in the words of one dialect: the request as backends get it, and the printers of its answer. */
export interface Talk extends DialectChat {
  readonly streams: boolean
  /** The whole answer under the caller's name of the model, as JSON. */
  whole(answer: WholeAnswer['answer'], model: string): Soon<string | Uint8Array>
  writing(model: string): EventWriter
  /** The event that ends a stream which broke. */
  broken(error: GatewayError): DialectEvent
}

/** The answer of a chat, whole or as a stream of events. */
export const answeredTalk = async (
  talk: Talk,
  given: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
): Promise<Reply> => {
  if (!talk.streams) {
    const { answer, model, headers } = await wholeAnswer(talk, given, signal)
    return text(await talk.whole(answer, model), undefined, 200, headers)
  }
  const streamed = await streamedAnswer(talk, given, (model) => talk.writing(model), signal)
  return events(streamed.events, (error) => talk.broken(error), waitingComment, streamed.headers, streamed.late)
}
