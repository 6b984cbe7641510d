import type { Caller } from '../../../core/access/caller.ts'
import type { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import type { Supplied } from '../../../core/container.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import { messageOf } from '../../shared/dialects/messages/answer.ts'
import { refuseBetas } from '../../shared/dialects/messages/betas.ts'
import { messagesError } from '../../shared/dialects/messages/error.ts'
import { messageEvents } from '../../shared/dialects/messages/events.ts'
import { translateMessages } from '../../shared/dialects/messages/request.ts'
import type { CountRequest, MessagesRequest } from '../../shared/dialects/messages/shape.ts'
import { alsoSealed } from '../../shared/dialects/also-sealed.ts'
import { type Reply, json, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Settings } from '../../../core/settings.ts'
import type { countNeeds } from '../shared/chat-needs.ts'
import { countedChat } from '../shared/count-chat.ts'
import { vendorKeyOf } from '../shared/dialect-route.ts'
import { sessionOf } from '../shared/session.ts'
import { triesOf } from '../../../core/inference/routing/tries.ts'
import { betas } from '../../shared/dialects/betas-settings.ts'
import { printJson } from '../../shared/print-json.ts'
import type { Asked, Talk } from '../shared/talk.ts'

interface OfDialect {
  readonly keepsakes: Keepsakes
  readonly settings: Settings
}

/** A conversation, and the printers of its answer. Headers belong to the dialect: betas change how a request is read. */
export const messagesTalk = (
  { id, input, record, caller, headers, pace }: Omit<Asked<MessagesRequest | CountRequest>, 'params'>,
  { keepsakes, settings }: OfDialect,
): Talk => {
  refuseBetas(headers, betas.of(settings).refused)
  const seal = keepsakes.for(caller.organization)
  return {
    caller,
    record,
    pace,
    model: input.model,
    provider: null,
    session: sessionOf(headers),
    tries: triesOf(headers),
    callerKey: vendorKeyOf(headers),
    understand: alsoSealed((to, model) => translateMessages(input, to, seal, headers, model.serverTools)),
    streams: input['stream'] === true,
    whole: ({ completion, native }, model) => printJson(messageOf(completion, model, seal, native)),
    writing: (model) => messageEvents(model, seal),
    broken: (error) => ({ event: 'error', data: JSON.stringify(messagesError(error, id)) }),
  }
}

/** The count of a conversation's tokens. */
export const countMessages = async (
  request: Request<CountRequest, unknown, Caller>,
  given: OfDialect & Supplied<typeof countNeeds>,
): Promise<Reply> => {
  const { id, signal } = request
  const counted = await countedChat(messagesTalk(request, given), { id, door: 'messages' }, given, signal)
  return counted.native === undefined
    ? json({ input_tokens: counted.tokens }, 200, counted.headers)
    : text(printKept(counted.native.body), undefined, 200, counted.headers)
}
