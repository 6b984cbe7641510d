import { randomBytes } from 'node:crypto'
import type { DialectEvent, EventWriter } from '../../../../core/dialects/event.ts'
import { generateEvents } from '../../../../core/dialects/generate-content/events.ts'
import { translateContent as ofGoogle } from '../../../../core/dialects/generate-content/request.ts'
import { GenerateRequest } from '../../../../core/dialects/generate-content/shape.ts'
import { thinksAloud } from '../../../../core/dialects/generate-content/thinking.ts'
import type { Seal } from '../../../../core/dialects/keepsake.ts'
import { printMessage } from '../../../../core/dialects/messages/answer.ts'
import { messageEvents } from '../../../../core/dialects/messages/events.ts'
import { translateMessages as ofMessages } from '../../../../core/dialects/messages/request.ts'
import { CountRequest, MessagesRequest } from '../../../../core/dialects/messages/shape.ts'
import { responseEvents } from '../../../../core/dialects/responses/events.ts'
import { translateResponses as ofResponses } from '../../../../core/dialects/responses/request.ts'
import { ResponsesRequest } from '../../../../core/dialects/responses/shape.ts'
import type { TranslatedRequest } from '../../../../core/dialects/translated-request.ts'
import { endMark } from '../../../../core/dialects/chat-completions.ts'
import { inputOf } from '../../../../core/inference/metering/tokens.ts'
import type { ChatBody, Completion, Dialect } from '../../../../core/ports/upstream.ts'
import { checked } from '../../../../core/validate.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { asGatewayError, dialectError } from './errors.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** A chat of any dialect in the common format, and the writers of its answer. */
export interface DialectChat {
  readonly model: string
  readonly stream: boolean
  readonly body: ChatBody
  /** Members of the request that the common format cannot express. */
  readonly dropped: readonly string[]
  readonly writer: EventWriter
  whole(completion: Completion): unknown
  /** The last event of a stream that broke, in the words of the dialect. */
  broken(error: unknown): DialectEvent
}

/** The dialect of the enclave's backend is unknown here, so signed thoughts travel beside plain thoughts. */
const worded = (understand: (to: Dialect | undefined) => TranslatedRequest): Pick<DialectChat, 'body' | 'dropped'> => {
  const { body, dropped } = understand(undefined)
  const signed = understand('messages').body.messages
  if (signed.length !== body.messages.length) return { body, dropped }
  const messages = body.messages.map((message, at) => {
    const thoughts = signed[at]?.['thinking_blocks']
    return thoughts === undefined ? message : { ...message, thinking_blocks: thoughts }
  })
  return { body: { ...body, messages }, dropped: dropped.filter((it) => it !== 'reasoning.signature') }
}

/** The common format is also that of the sealed client, so chunks go on as they come. */
export const chatTalk = (params: JsonObject): DialectChat => {
  const { model, stream, ...body } = params
  return {
    model: model as string,
    stream: stream === true,
    body: body as unknown as ChatBody,
    dropped: [],
    writer: {
      take: (chunk, into) => void into.push({ data: JSON.stringify(chunk) }),
      end: (into) => void into.push({ data: endMark }),
    },
    whole: (completion) => completion,
    broken: (error) => ({ data: JSON.stringify(dialectError(error).body) }),
  }
}

/** Throws BadRequest for a request that the dialect does not know. */
export const responsesTalk = (params: JsonObject, seal: Seal): DialectChat => {
  const request = checked(ResponsesRequest, params)
  const { model } = request
  const now = () => Math.floor(Date.now() / 1000)
  const id = (kind: string) => `${kind}_${randomBytes(20).toString('hex')}`
  const writer = responseEvents({ request, model, seal, created: now(), now, id })
  return {
    model,
    stream: request.stream === true,
    ...worded((to) => ofResponses(request, to, seal)),
    writer,
    whole: (completion) => writer.whole(completion),
    broken: (error) => writer.broken(asGatewayError(error)),
  }
}

/** Throws BadRequest for a request that the dialect does not know. */
export const messagesTalk = (params: JsonObject, seal: Seal, headers: IncomingHttpHeaders): DialectChat => {
  const request = checked(MessagesRequest, params)
  const { model } = request
  return {
    model,
    stream: request.stream === true,
    ...worded((to) => ofMessages(request, to, seal, headers)),
    writer: messageEvents(model, seal),
    whole: (completion) => JSON.parse(printMessage(completion, model, seal)),
    broken: (error) => ({ event: 'error', data: JSON.stringify(dialectError(error, 'messages').body) }),
  }
}

/** Model and stream come from the path, as Gemini has them. Throws BadRequest as the others. */
export const googleTalk = (params: JsonObject, seal: Seal, model: string, stream: boolean): DialectChat => {
  const request = checked(GenerateRequest, params)
  const writer = generateEvents({ model, seal, thinks: thinksAloud(request) })
  return {
    model,
    stream,
    ...worded((to) => ofGoogle(request, to, seal)),
    writer,
    whole: (completion) => writer.whole(completion),
    broken: (error) => ({ data: JSON.stringify(dialectError(error, 'google').body) }),
  }
}

/** An estimate of the tokens of a conversation in the Messages dialect. */
export const countMessages = (params: JsonObject, seal: Seal, headers: IncomingHttpHeaders): number =>
  inputOf(ofMessages(checked(CountRequest, params), undefined, seal, headers).body)

/** An estimate of the tokens of a conversation in Gemini's dialect. */
export const countContents = (params: JsonObject, seal: Seal): number => {
  const asked = params['generateContentRequest'] ?? { contents: params['contents'] ?? [] }
  return inputOf(ofGoogle(checked(GenerateRequest, asked), undefined, seal).body)
}
