import { type GatewayError, UpstreamFailed } from '../../../core/errors.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import type { Supplied } from '../../../core/container.ts'
import { googleError } from '../../shared/dialects/generate-content/error.ts'
import { generateEvents } from '../../shared/dialects/generate-content/events.ts'
import { translateContent } from '../../shared/dialects/generate-content/request.ts'
import type { GenerateRequest } from '../../shared/dialects/generate-content/shape.ts'
import { thinksAloud } from '../../shared/dialects/generate-content/thinking.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import { alsoSealed } from '../../shared/dialects/also-sealed.ts'
import { type Reply, bytes, json, text, type ServerEvent } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Log } from '../../../core/ports/platform.ts'
import { streamedAnswer } from '../shared/answer-chat.ts'
import type { chatNeeds, countNeeds } from '../shared/chat-needs.ts'
import { countedChat } from '../shared/count-chat.ts'
import { sessionOf } from '../shared/session.ts'
import { triesOf } from '../../../core/inference/routing/tries.ts'
import { printJson } from '../../shared/print-json.ts'
import type { Asked, Talk } from '../shared/talk.ts'
import { knownError } from '../../../core/http/http-errors.ts'

interface OfDialect {
  readonly keepsakes: Keepsakes
}

/** Contents, and the printers of their answer. The model comes from the path, since the dialect's body names none. */
export const contentsTalk =
  (streams: boolean) =>
  (
    { input, params, record, caller, headers, pace }: Omit<Asked<GenerateRequest>, 'id'>,
    { keepsakes }: OfDialect,
  ): Talk => {
    const seal = keepsakes.for(caller.organization)
    const writing = (model: string) => generateEvents({ model, seal, thinks: thinksAloud(input) })
    return {
      caller,
      record,
      pace,
      model: params['model'] ?? '',
      provider: null,
      session: sessionOf(headers),
      tries: triesOf(headers),
      understand: alsoSealed((to, model) => translateContent(input, to, seal, model.serverTools)),
      streams,
      whole: ({ completion, native }, model) => printJson(writing(model).whole(completion, native)),
      writing,
      broken: (error) => ({ data: JSON.stringify(googleError(error)) }),
    }
  }

/** The pieces of an answer of contents as the items of one JSON array. */
export const listContents = async (
  request: Request<GenerateRequest, unknown, Caller>,
  given: OfDialect & { readonly log: Log } & Supplied<typeof chatNeeds>,
): Promise<Reply> => {
  const { id, signal } = request
  const talk = contentsTalk(true)(request, given)
  const served = await streamedAnswer(talk, given, (model) => talk.writing(model), signal)
  const failed = (error: GatewayError) =>
    given.log.error(
      'fault',
      { request: id, status: error.status, ...(error instanceof UpstreamFailed && error.attempted) },
      error.cause,
    )
  const list = jsonArrayOf(served.events, failed)
  // The status reports a backend that fails before its first chunk.
  const begun = await list.begun()
  return bytes(begun, 'application/json; charset=utf-8', null, 200, { ...served.headers, ...served.late() })
}

/** The count of the tokens of contents. */
export const countContents = async (
  request: Request<unknown, unknown, Caller>,
  contents: GenerateRequest,
  { keepsakes, ...given }: OfDialect & Supplied<typeof countNeeds>,
): Promise<Reply> => {
  const { id, params, record, caller, headers, pace, signal } = request
  const talk = contentsTalk(false)({ input: contents, params, record, caller, headers, pace }, { keepsakes })
  const counted = await countedChat(talk, { id, door: 'generate-content' }, given, signal)
  return counted.native === undefined
    ? json({ totalTokens: counted.tokens }, 200, counted.headers)
    : text(printKept(counted.native.body), undefined, 200, counted.headers)
}

/** A stream's events as the items of one JSON array; its last item tells of a break. */
const jsonArrayOf = (events: AsyncIterableIterator<ServerEvent>, report: (error: GatewayError) => void) => {
  const items = async function* (first: IteratorResult<ServerEvent>): AsyncGenerator<Uint8Array> {
    let mark = '['
    try {
      for (let step = first; !step.done; step = await events.next()) {
        if ('comment' in step.value) continue
        yield Buffer.from(mark + step.value.data)
        mark = ',\n'
      }
    } catch (cause) {
      const error = knownError(cause)
      report(error)
      yield Buffer.from(mark + JSON.stringify(googleError(error)))
      mark = ',\n'
    } finally {
      await events.return?.()
    }
    yield Buffer.from(mark === '[' ? '[]' : ']')
  }
  return {
    /** Resolves when the backend begins to answer; rejects when none does. */
    begun: async (): Promise<AsyncIterable<Uint8Array>> => items(await events.next()),
  }
}
