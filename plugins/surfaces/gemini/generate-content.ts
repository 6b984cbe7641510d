import * as v from 'valibot'
import { Keepsakes } from '../../../core/access/keepsakes.ts'
import type { Caller } from '../../../core/access/caller.ts'
import { googleError } from '../../../core/dialects/generate-content/error.ts'
import { generateEvents } from '../../../core/dialects/generate-content/events.ts'
import { translateContent } from '../../../core/dialects/generate-content/request.ts'
import { GenerateRequest } from '../../../core/dialects/generate-content/shape.ts'
import { thinksAloud } from '../../../core/dialects/generate-content/thinking.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import type { Seal } from '../../../core/dialects/keepsake.ts'
import { bytes, events, json, text } from '../../../core/http/reply.ts'
import { route, type Request } from '../../../core/http/route.ts'
import { Log } from '../../../core/ports/platform.ts'
import { countedChat, countNeeds } from '../../../core/inference/count-chat.ts'
import { sessionOf } from '../../../core/inference/routing/session.ts'
import { streamedAnswer, chatNeeds, wholeAnswer, type DialectChat } from '../../../core/inference/answer-chat.ts'
import { keyHeaders, waitingComment } from '../shared/dialect-route.ts'
import { asGoogle, googleFaults } from './dialect-route.ts'
import { jsonArrayOf } from './json-array.ts'

const shared = {
  method: 'POST',
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asGoogle,
  faults: googleFaults,
  body: { read: 'relayed', schema: GenerateRequest, bytes: ({ bodies }: Sizes) => bodies.chat, tooLarge: true },
} as const

interface Sizes {
  readonly bodies: { readonly chat: number }
}

const talkOf = (
  { params, caller, headers }: Pick<Request<unknown, unknown, Caller, '{model}'>, 'params' | 'caller' | 'headers'>,
  input: GenerateRequest,
  seal: Seal,
): DialectChat => ({
  caller,
  model: params.model,
  provider: null,
  session: sessionOf(headers),
  understand: (to) => translateContent(input, to, seal),
})

const generate = route({
  ...shared,
  path: '/v1beta/models/{model}:generateContent',
  summary: 'Answers contents in the Gemini dialect.',
  needs: { ...chatNeeds, keepsakes: Keepsakes },
  async handle(request, { keepsakes, ...given }) {
    const seal = keepsakes.for(request.caller.organization)
    const { answer, model, headers } = await wholeAnswer(talkOf(request, request.input, seal), given, request.signal)
    const writer = generateEvents({ model, seal, thinks: thinksAloud(request.input) })
    return text(printKept(writer.whole(answer.completion, answer.native)), undefined, 200, headers)
  },
})

const stream = route({
  ...shared,
  path: '/v1beta/models/{model}:streamGenerateContent',
  summary: 'Answers contents in the Gemini dialect piece by piece: as events with alt=sse, else as a JSON array.',
  query: v.looseObject({ alt: v.optional(v.picklist(['sse', 'json']), 'json') }),
  needs: { ...chatNeeds, keepsakes: Keepsakes, log: Log },
  async handle(request, { keepsakes, log, ...given }) {
    const { id, input, caller, signal, query } = request
    const seal = keepsakes.for(caller.organization)
    const writing = (model: string) => generateEvents({ model, seal, thinks: thinksAloud(input) })
    const it = await streamedAnswer(talkOf(request, input, seal), given, writing, signal)
    if (query.alt === 'sse') {
      return events(
        it.events,
        (error) => ({ data: JSON.stringify(googleError(error)) }),
        waitingComment,
        it.headers,
        it.late,
      )
    }
    const list = jsonArrayOf(it.events, (error) =>
      log.error('fault', { request: id, status: error.status }, error.cause),
    )
    // The status reports a backend that fails before its first chunk.
    const begun = await list.begun()
    return bytes(begun, 'application/json; charset=utf-8', null, 200, { ...it.headers, ...it.late() })
  },
})

const CountContentRequest = v.looseObject({
  contents: v.optional(GenerateRequest.entries.contents),
  generateContentRequest: v.optional(GenerateRequest),
})

/** The request whose prompt is counted; the path alone names its model. */
const countedRequest = (input: v.InferOutput<typeof CountContentRequest>): GenerateRequest => {
  const { model: _, ...asked } = input.generateContentRequest ?? { contents: input.contents ?? [] }
  return asked
}

const count = route({
  ...shared,
  path: '/v1beta/models/{model}:countTokens',
  summary: 'Counts the tokens of contents by the model’s backend; x-sealgate-estimated marks an estimate.',
  body: { ...shared.body, schema: CountContentRequest },
  needs: { ...countNeeds, keepsakes: Keepsakes },
  async handle(request, { keepsakes, ...given }) {
    const { id, caller, input, signal } = request
    const talk = talkOf(request, countedRequest(input), keepsakes.for(caller.organization))
    const it = await countedChat(talk, { id, door: 'generate-content' }, given, signal)
    return it.native === undefined
      ? json({ totalTokens: it.tokens }, 200, it.headers)
      : text(printKept(it.native.body), undefined, 200, it.headers)
  },
})

export const generateContent = [generate, stream, count] as const
