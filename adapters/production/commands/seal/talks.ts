import { randomBytes } from 'node:crypto'
import type { DialectEvent, EventWriter } from '../../../../core/dialects/event.ts'
import { generateEvents } from '../../../../core/dialects/generate-content/events.ts'
import { understood as ofGoogle } from '../../../../core/dialects/generate-content/request.ts'
import { GenerateRequest } from '../../../../core/dialects/generate-content/shape.ts'
import { thinksAloud } from '../../../../core/dialects/generate-content/thinking.ts'
import type { Seal } from '../../../../core/dialects/keepsake.ts'
import { printMessage } from '../../../../core/dialects/messages/answer.ts'
import { messageEvents } from '../../../../core/dialects/messages/events.ts'
import { understood as ofMessages } from '../../../../core/dialects/messages/request.ts'
import { CountRequest, MessagesRequest } from '../../../../core/dialects/messages/shape.ts'
import { responseEvents } from '../../../../core/dialects/responses/events.ts'
import { understood as ofResponses } from '../../../../core/dialects/responses/request.ts'
import { ResponsesRequest } from '../../../../core/dialects/responses/shape.ts'
import type { Understood } from '../../../../core/dialects/understood.ts'
import { endMark } from '../../../../core/dialects/chat-completions.ts'
import { inputOf } from '../../../../core/inference/metering/tokens.ts'
import type { ChatBody, Completion, Dialect } from '../../../../core/ports/upstream.ts'
import { checked } from '../../../../core/validate.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { said, toldBy } from './errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** A chat of any dialect in the common format, and how its answer is written. */
export interface Talk {
  readonly model: string
  readonly stream: boolean
  readonly body: ChatBody
  /** Members that can't be carried over. */
  readonly dropped: readonly string[]
  readonly writer: EventWriter
  whole(completion: Completion): unknown
  broken(error: unknown): DialectEvent
}

/** What the enclave's backend speaks is unknown here, so signed thoughts are given back beside plain ones. */
const worded = (understand: (to: Dialect | undefined) => Understood): Pick<Talk, 'body' | 'dropped'> => {
  const { body, dropped } = understand(undefined)
  const signed = understand('messages').body.messages
  if (signed.length !== body.messages.length) return { body, dropped }
  const messages = body.messages.map((message, at) => {
    const thoughts = signed[at]?.['thinking_blocks']
    return thoughts === undefined ? message : { ...message, thinking_blocks: thoughts }
  })
  return { body: { ...body, messages }, dropped: dropped.filter((it) => it !== 'reasoning.signature') }
}

export const chatTalk = (params: Fields): Talk => {
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
    broken: (error) => ({ data: JSON.stringify(toldBy(error).body) }),
  }
}

export const responsesTalk = (params: Fields, seal: Seal): Talk => {
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
    broken: (error) => writer.broken(said(error)),
  }
}

export const messagesTalk = (params: Fields, seal: Seal, headers: IncomingHttpHeaders): Talk => {
  const request = checked(MessagesRequest, params)
  const { model } = request
  return {
    model,
    stream: request.stream === true,
    ...worded((to) => ofMessages(request, to, seal, headers)),
    writer: messageEvents(model, seal),
    whole: (completion) => JSON.parse(printMessage(completion, model, seal)),
    broken: (error) => ({ event: 'error', data: JSON.stringify(toldBy(error, 'messages').body) }),
  }
}

export const googleTalk = (params: Fields, seal: Seal, model: string, stream: boolean): Talk => {
  const request = checked(GenerateRequest, params)
  const writer = generateEvents({ model, seal, thinks: thinksAloud(request) })
  return {
    model,
    stream,
    ...worded((to) => ofGoogle(request, to, seal)),
    writer,
    whole: (completion) => writer.whole(completion),
    broken: (error) => ({ data: JSON.stringify(toldBy(error, 'google').body) }),
  }
}

/** A guess at the tokens of a conversation of the Messages dialect. */
export const countMessages = (params: Fields, seal: Seal, headers: IncomingHttpHeaders): number =>
  inputOf(ofMessages(checked(CountRequest, params), undefined, seal, headers).body)

/** The same in Gemini's. */
export const countContents = (params: Fields, seal: Seal): number => {
  const asked = params['generateContentRequest'] ?? { contents: params['contents'] ?? [] }
  return inputOf(ofGoogle(checked(GenerateRequest, asked), undefined, seal).body)
}
