import { parseObject } from '../../../shared/backend.ts'
import { headOf, usageOf } from '../../../shared/dialects/responses/resource.ts'
import type { ResponsesRequest } from '../../../shared/dialects/responses/shape.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { sseEvents } from '../../../shared/sse.ts'
import { bodyOf, type Chain, responseIn, type TurnWords } from './chain.ts'

/** Sends a request to the gateway's own interface, with the key and the address of the connection. */
export type Ask = (path: '' | '/input_tokens', body: string, signal: AbortSignal) => Promise<Response>

/** Sends one frame, and resolves when the peer can take the next one. */
export type Say = (text: string) => Promise<void>

interface Given {
  readonly chain: Chain
  readonly ask: Ask
  readonly say: Say
  /** The id of an answer without a call. */
  readonly id: () => string
  readonly now: () => number
}

/** A turn ends the connection where its key is refused. */
export type TurnEnd = 'played' | 'keyless'

/** Headers that tell a client about its limits. */
const told = /^(?:retry-after(?:-ms)?|x-should-retry|x-request-id|x-ratelimit-.+)$/

const ends = new Set(['response.completed', 'response.incomplete'])

/** Asks for the turn by the route of POST, and says each event of its answer. A turn that fails forgets the response on which it rests. */
export const playTurn = async (message: JsonObject, given: Given, signal: AbortSignal): Promise<TurnEnd> => {
  const { chain, ask, say } = given
  const words = chain.words(message)
  const isWarm = message['generate'] === false
  const answer = await ask(isWarm ? '/input_tokens' : '', bodyOf(words), signal)
  if (!answer.ok) {
    if (words.items !== null && message['previous_response_id'] != null) chain.forget()
    await say(JSON.stringify(await refusalOf(answer, words)))
    return answer.status === 401 || answer.status === 403 ? 'keyless' : 'played'
  }
  if (isWarm) {
    await answer.body?.cancel()
    await sayWarm(words, given)
  } else await sayEvents(answer, words, given)
  return 'played'
}

const refusalOf = async (answer: Response, { lost }: TurnWords): Promise<JsonObject> => {
  const { error } = parseObject(await answer.text()) ?? {}
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => told.test(name)))
  const isLost = lost !== null && isJsonObject(error) && error['code'] === 'state_not_supported'
  return { type: 'error', status: answer.status, error: isLost ? lostError : (error ?? null), headers }
}

const lostError = {
  message: 'The connection remembers no such response: only its last response can be continued',
  type: 'invalid_request_error',
  param: 'previous_response_id',
  code: 'previous_response_not_found',
}

const sayEvents = async (answer: Response, { items }: TurnWords, { chain, say }: Given): Promise<void> => {
  let last: JsonObject | null = null
  try {
    for await (const { event, data } of sseEvents(answer.body ?? nothing)) {
      if (event !== null && ends.has(event)) last = responseIn(parseObject(data))
      await say(data)
    }
  } finally {
    if (last === null) chain.forget()
    else chain.remember(last, items ?? '')
  }
}

/** A turn without a call of a model: its items are remembered, and its answer is empty. */
const sayWarm = async ({ members, items }: TurnWords, { chain, say, id, now }: Given): Promise<void> => {
  const request = members as unknown as ResponsesRequest
  const response = headOf(request, request.model, id(), now())
  const usage = usageOf({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })
  await say(JSON.stringify({ type: 'response.created', sequence_number: 0, response }))
  const completed = Object.assign(response, { status: 'completed', completed_at: now(), usage })
  await say(JSON.stringify({ type: 'response.completed', sequence_number: 1, response: completed }))
  chain.remember(completed, items ?? '')
}

const nothing: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }
