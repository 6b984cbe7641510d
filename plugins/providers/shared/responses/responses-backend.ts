import { readObject } from '../../../shared/backend.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { printJson } from '../../../shared/print-json.ts'
import type { Answer, Clock } from '../../../../core/ports/platform.ts'
import type { ChatAnswer, ChatCall, ChatWire, CountCall, TokenCount } from '../../../../core/ports/upstream.ts'
import { tokensIn } from '../tokens-in.ts'
import { completionOf, responsesEvents } from './responses-answers.ts'
import { mustBeEvents } from '../event-items.ts'
import { type WiredChat, answerBy, completedBy, refusePrefix, wireBy } from '../wired-chat.ts'
import { responsesBody } from './responses-request.ts'

/** Sends a body to a path of the server, and gives back an answer with a 2xx. */
type Send = (path: string, body: string | Uint8Array) => Promise<Answer>

/** Members of a request that decide its tokens. */
const counted = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'reasoning', 'text', 'parallel_tool_calls']

const wired = (call: ChatCall, change: (body: JsonObject) => JsonObject, clock: Clock): WiredChat => {
  const { model, native } = call
  const isNative = native?.dialect === 'responses'
  return {
    body: change(responsesBody(call)),
    isNative,
    whole: (answer) => completedBy(completionOf(answer, model, clock), answer, isNative ? 'responses' : null),
    events: (status) => responsesEvents(model, isNative, clock, status),
    streams: (type, status) => !type.startsWith('application/json') && mustBeEvents(type, status),
  }
}

/** A chat by the Responses interface. Throws UpstreamFailed for a prefix: the interface goes on from none. */
export const chatByResponses = async (
  call: ChatCall,
  change: (body: JsonObject) => JsonObject,
  send: Send,
  clock: Clock,
): Promise<ChatAnswer> => {
  refusePrefix(call.prefix)
  const chat = wired(call, change, clock)
  return answerBy(chat, await send('/responses', await printJson(chat.body)), call.stream, clock)
}

/** The same without promises. */
export const responsesWire = (
  call: ChatCall,
  change: (body: JsonObject) => JsonObject,
  { learn, ...line }: Pick<ChatWire, 'url' | 'headers' | 'push'> & Required<Pick<ChatWire, 'learn'>>,
  clock: Clock,
): ChatWire => ({ ...wireBy(wired(call, change, clock), line), learn })

/** The count of a prompt's tokens by the Responses interface. */
export const countByResponses = async (
  call: CountCall,
  change: (body: JsonObject) => JsonObject,
  send: Send,
): Promise<TokenCount> => {
  const body = change(responsesBody({ ...call, stream: false }))
  const own = Object.fromEntries(Object.entries(body).filter(([name]) => counted.includes(name)))
  const answer = await send('/responses/input_tokens', await printJson(own))
  return { tokens: tokensIn(await readObject(answer), 'input_tokens', answer) }
}
