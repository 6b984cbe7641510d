import type { Caller } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import { type Reply, json, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { countNeeds } from '../shared/chat-needs.ts'
import { countedChat } from '../shared/count-chat.ts'
import { printKept } from '../../../core/dialects/json-text.ts'
import { sessionOf } from '../shared/session.ts'
import { triesOf } from '../../../core/inference/routing/tries.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import { alsoSealed } from '../../shared/dialects/also-sealed.ts'
import type { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import { responseEvents } from '../../shared/dialects/responses/events.ts'
import { translateResponses } from '../../shared/dialects/responses/request.ts'
import type { ResponsesRequest } from '../../shared/dialects/responses/shape.ts'
import { printJson } from '../../shared/print-json.ts'
import type { Asked, Talk } from '../shared/talk.ts'

interface OfDialect {
  readonly keepsakes: Keepsakes
  readonly clock: Clock
  readonly random: Random
}

/** A list of items, and the printers of its answer. */
export const responsesTalk = (
  { input, record, caller, headers, pace }: Asked<ResponsesRequest>,
  { keepsakes, clock, random }: OfDialect,
): Talk => {
  const seal = keepsakes.for(caller.organization)
  const now = () => Math.floor(clock.now() / 1000)
  const id = (kind: string) => `${kind}_${Buffer.from(random.bytes(20)).toString('hex')}`
  const created = now()
  const answering = (model: string) => responseEvents({ request: input, model, seal, created, now, id })
  let writer: ReturnType<typeof answering> | null = null
  return {
    caller,
    record,
    pace,
    model: input.model,
    provider: null,
    session: sessionOf(headers, input.prompt_cache_key),
    tries: triesOf(headers),
    understand: alsoSealed((to, model) => translateResponses(input, to, seal, model.serverTools)),
    streams: input.stream === true,
    whole: ({ completion, native }, model) => printJson(answering(model).whole(completion, native)),
    writing: (model) => (writer = answering(model)),
    broken: (error) => (writer ?? answering(input.model)).broken(error),
  }
}

/** The count of the tokens of a list of items. */
export const countResponses = async (
  request: Request<ResponsesRequest, unknown, Caller>,
  given: OfDialect & Supplied<typeof countNeeds>,
): Promise<Reply> => {
  const { id, signal } = request
  const counted = await countedChat(responsesTalk(request, given), { id, door: 'responses' }, given, signal)
  return counted.native === undefined
    ? json({ object: 'response.input_tokens', input_tokens: counted.tokens }, 200, counted.headers)
    : text(printKept(counted.native.body), undefined, 200, counted.headers)
}
