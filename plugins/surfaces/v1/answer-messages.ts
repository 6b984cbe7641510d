import type { Caller } from '../../../core/access/caller.ts'
import type { Keepsakes } from '../../../core/access/keepsakes.ts'
import type { Supplied } from '../../../core/container.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import type { Seal } from '../../../core/dialects/keepsake.ts'
import { printMessage } from '../../../core/dialects/messages/answer.ts'
import { refuseBetas } from '../../../core/dialects/messages/betas.ts'
import { messagesError } from '../../../core/dialects/messages/error.ts'
import { messageEvents } from '../../../core/dialects/messages/events.ts'
import { translateMessages } from '../../../core/dialects/messages/request.ts'
import type { CountRequest, MessagesRequest } from '../../../core/dialects/messages/shape.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { type Reply, events, json, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Settings } from '../../../core/settings.ts'
import { streamedAnswer, wholeAnswer, type DialectChat } from '../../../core/inference/answer-chat.ts'
import type { chatNeeds, countNeeds } from '../../../core/inference/chat-needs.ts'
import { countedChat } from '../../../core/inference/count-chat.ts'
import { sessionOf } from '../../../core/inference/routing/session.ts'
import { waitingComment } from '../shared/dialect-route.ts'

type Asked<Input> = Request<Input, unknown, Caller>

interface OfDialect {
  readonly keepsakes: Keepsakes
  readonly settings: Settings
}

/** Headers belong to the dialect: betas change how a request is read. */
const talkOf = (
  { input, caller, headers }: Pick<Asked<MessagesRequest | CountRequest>, 'input' | 'caller' | 'headers'>,
  seal: Seal,
): DialectChat => ({
  caller,
  model: input.model,
  provider: null,
  session: sessionOf(headers),
  understand: (to) => translateMessages(input, to, seal, headers),
})

/** The answer of a conversation, whole or as a stream of events. */
export const answerMessages = async (
  { id, input, caller, headers, signal }: Asked<MessagesRequest>,
  { keepsakes, settings, ...given }: OfDialect & Supplied<typeof chatNeeds>,
): Promise<Reply> => {
  refuseBetas(headers, settings.betas.refused)
  const seal = keepsakes.for(caller.organization)
  const talk = talkOf({ input, caller, headers }, seal)
  if (input.stream !== true) {
    const { answer, model, headers } = await wholeAnswer(talk, given, signal)
    return text(printMessage(answer.completion, model, seal, answer.native), undefined, 200, headers)
  }
  const it = await streamedAnswer(talk, given, (model) => messageEvents(model, seal), signal)
  const broken = (error: GatewayError) => ({ event: 'error', data: JSON.stringify(messagesError(error, id)) })
  return events(it.events, broken, waitingComment, it.headers, it.late)
}

/** The count of a conversation's tokens. */
export const countMessages = async (
  { id, input, caller, headers, signal }: Asked<CountRequest>,
  { keepsakes, settings, ...given }: OfDialect & Supplied<typeof countNeeds>,
): Promise<Reply> => {
  refuseBetas(headers, settings.betas.refused)
  const seal = keepsakes.for(caller.organization)
  const talk = talkOf({ input, caller, headers }, seal)
  const it = await countedChat(talk, { id, door: 'messages' }, given, signal)
  return it.native === undefined
    ? json({ input_tokens: it.tokens }, 200, it.headers)
    : text(printKept(it.native.body), undefined, 200, it.headers)
}
