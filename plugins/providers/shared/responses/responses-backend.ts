import { keptObject, objectIn, readKept, readObject } from '../../../shared/backend.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { printJson, printNow } from '../../../shared/print-json.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import type { Answer, Clock } from '../../../../core/ports/platform.ts'
import type { ChatAnswer, ChatCall, ChatWire, CountCall, TokenCount } from '../../../../core/ports/upstream.ts'
import { tokensIn } from '../tokens-in.ts'
import { chunksOf, completionOf, responsesEvents } from './responses-answers.ts'
import { mustBeEvents } from '../event-items.ts'
import { responsesBody } from './responses-request.ts'

type Completed = Extract<ChatAnswer, { kind: 'completion' }>

/** Sends a body to a path of the server, and gives back an answer with a 2xx. */
type Send = (path: string, body: string | Uint8Array) => Promise<Answer>

/** Members of a request that decide its tokens. */
const counted = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'reasoning', 'text', 'parallel_tool_calls']

/** A chat by the Responses interface. Throws UpstreamFailed for a prefix: the interface goes on from none. */
export const chatByResponses = async (
  call: ChatCall,
  change: (body: JsonObject) => JsonObject,
  send: Send,
  clock: Clock,
): Promise<ChatAnswer> => {
  if (call.prefix !== undefined)
    throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
  const { model, stream } = call
  const isNative = call.native?.dialect === 'responses'
  const answer = await send('/responses', await printJson(change(responsesBody(call))))
  const type = answer.header('content-type') ?? ''
  if (stream && !type.startsWith('application/json'))
    return { kind: 'chunks', chunks: chunksOf(answer, model, isNative, clock) }
  return wholeOf(await (isNative ? readKept : readObject)(answer), model, isNative, clock)
}

const wholeOf = (whole: JsonObject, model: string, isNative: boolean, clock: Clock): Completed => {
  const completion = completionOf(whole, model, clock)
  if (!isNative) return { kind: 'completion', completion }
  return { kind: 'completion', completion, native: { dialect: 'responses', body: whole, headers: {} } }
}

/** The same without promises. */
export const responsesWire = (
  call: ChatCall,
  change: (body: JsonObject) => JsonObject,
  { url, headers, push, learn }: Pick<ChatWire, 'url' | 'headers' | 'push'> & Required<Pick<ChatWire, 'learn'>>,
  clock: Clock,
): ChatWire => {
  const { model } = call
  const isNative = call.native?.dialect === 'responses'
  return {
    url,
    headers,
    push,
    learn,
    body: (texts) => printNow(change(responsesBody(call)), texts),
    streams(type, status) {
      if (type.startsWith('application/json')) return false
      mustBeEvents(type, status)
      return true
    },
    whole: (text, status, bytes) =>
      wholeOf(isNative ? keptObject(bytes, status) : objectIn(text, status), model, isNative, clock),
    events: (status) => responsesEvents(model, isNative, clock, status),
  }
}

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
