import type { Caller } from '../../../core/access/caller.ts'
import { Keepsakes } from '../../../core/access/keepsakes.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import type { Seal } from '../../../core/dialects/keepsake.ts'
import { printMessage } from '../../../core/dialects/messages/answer.ts'
import { refuseBetas } from '../../../core/dialects/messages/betas.ts'
import { messagesError } from '../../../core/dialects/messages/error.ts'
import { messageEvents } from '../../../core/dialects/messages/events.ts'
import { translateMessages } from '../../../core/dialects/messages/request.ts'
import { CountRequest, MessagesRequest } from '../../../core/dialects/messages/shape.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { events, json, text } from '../../../core/http/reply.ts'
import { route, type Request } from '../../../core/http/route.ts'
import { Settings } from '../../../core/settings.ts'
import { countedChat, countNeeds } from '../../../core/inference/count-chat.ts'
import { sessionOf } from '../../../core/inference/routing/session.ts'
import { streamedAnswer, chatNeeds, wholeAnswer, type DialectChat } from '../../../core/inference/answer-chat.ts'
import { keyHeaders, waitingComment } from '../shared/dialect-route.ts'
import { asMessages, messagesFaults } from './dialect-route.ts'

const shared = {
  method: 'POST',
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asMessages,
  faults: messagesFaults,
  headers: { 'request-id': '{id}' },
} as const

const talkOf = (
  {
    input,
    caller,
    headers,
  }: Pick<Request<MessagesRequest | CountRequest, unknown, Caller>, 'input' | 'caller' | 'headers'>,
  seal: Seal,
): DialectChat => ({
  caller,
  model: input.model,
  provider: null,
  session: sessionOf(headers),
  understand: (to) => translateMessages(input, to, seal, headers),
})

const create = route({
  ...shared,
  path: '/v1/messages',
  summary: 'Answers a conversation in the Messages dialect, whole or as a stream of events.',
  body: { read: 'relayed', schema: MessagesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...chatNeeds, keepsakes: Keepsakes, settings: Settings },
  async handle({ id, input, caller, headers, signal }, { keepsakes, settings, ...given }) {
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
  },
})

const count = route({
  ...shared,
  path: '/v1/messages/count_tokens',
  summary: 'Counts the tokens of a conversation by the model’s backend; x-sealgate-estimated marks an estimate.',
  body: { read: 'relayed', schema: CountRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...countNeeds, keepsakes: Keepsakes, settings: Settings },
  async handle({ id, input, caller, headers, signal }, { keepsakes, settings, ...given }) {
    refuseBetas(headers, settings.betas.refused)
    const seal = keepsakes.for(caller.organization)
    const talk = talkOf({ input, caller, headers }, seal)
    const it = await countedChat(talk, { id, door: 'messages' }, given, signal)
    return it.native === undefined
      ? json({ input_tokens: it.tokens }, 200, it.headers)
      : text(printKept(it.native.body), undefined, 200, it.headers)
  },
})

export const messages = [create, count] as const
