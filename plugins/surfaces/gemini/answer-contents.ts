import type { Caller } from '../../../core/access/caller.ts'
import type { Keepsakes } from '../../../core/access/keepsakes.ts'
import type { Supplied } from '../../../core/container.ts'
import { googleError } from '../../../core/dialects/generate-content/error.ts'
import { generateEvents } from '../../../core/dialects/generate-content/events.ts'
import { translateContent } from '../../../core/dialects/generate-content/request.ts'
import type { GenerateRequest } from '../../../core/dialects/generate-content/shape.ts'
import { thinksAloud } from '../../../core/dialects/generate-content/thinking.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import type { Seal } from '../../../core/dialects/keepsake.ts'
import { type Reply, bytes, events, json, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Log } from '../../../core/ports/platform.ts'
import { streamedAnswer, wholeAnswer, type DialectChat } from '../../../core/inference/answer-chat.ts'
import type { chatNeeds, countNeeds } from '../../../core/inference/chat-needs.ts'
import { countedChat } from '../../../core/inference/count-chat.ts'
import { sessionOf } from '../../../core/inference/routing/session.ts'
import { waitingComment } from '../shared/dialect-route.ts'
import { jsonArrayOf } from './json-array.ts'

type Asked<Input, Query = unknown> = Request<Input, Query, Caller, '{model}'>

interface OfDialect {
  readonly keepsakes: Keepsakes
}

/** The model comes from the path, since the dialect's body names none. */
const talkOf = (
  { params, caller, headers }: Pick<Asked<unknown>, 'params' | 'caller' | 'headers'>,
  input: GenerateRequest,
  seal: Seal,
): DialectChat => ({
  caller,
  model: params.model,
  provider: null,
  session: sessionOf(headers),
  understand: (to) => translateContent(input, to, seal),
})

/** The whole answer of contents. */
export const answerContents = async (
  request: Asked<GenerateRequest>,
  { keepsakes, ...given }: OfDialect & Supplied<typeof chatNeeds>,
): Promise<Reply> => {
  const seal = keepsakes.for(request.caller.organization)
  const { answer, model, headers } = await wholeAnswer(talkOf(request, request.input, seal), given, request.signal)
  const writer = generateEvents({ model, seal, thinks: thinksAloud(request.input) })
  return text(printKept(writer.whole(answer.completion, answer.native)), undefined, 200, headers)
}

/** The pieces of an answer of contents: as events, or as the items of one JSON array. */
export const streamContents = async (
  request: Asked<GenerateRequest, { readonly alt: 'sse' | 'json' }>,
  { keepsakes, log, ...given }: OfDialect & { readonly log: Log } & Supplied<typeof chatNeeds>,
): Promise<Reply> => {
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
  const list = jsonArrayOf(it.events, (error) => log.error('fault', { request: id, status: error.status }, error.cause))
  // The status reports a backend that fails before its first chunk.
  const begun = await list.begun()
  return bytes(begun, 'application/json; charset=utf-8', null, 200, { ...it.headers, ...it.late() })
}

/** The count of the tokens of contents. */
export const countContents = async (
  request: Asked<unknown>,
  contents: GenerateRequest,
  { keepsakes, ...given }: OfDialect & Supplied<typeof countNeeds>,
): Promise<Reply> => {
  const { id, caller, signal } = request
  const talk = talkOf(request, contents, keepsakes.for(caller.organization))
  const it = await countedChat(talk, { id, door: 'generate-content' }, given, signal)
  return it.native === undefined
    ? json({ totalTokens: it.tokens }, 200, it.headers)
    : text(printKept(it.native.body), undefined, 200, it.headers)
}
