import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { type JsonBounds, noBounds } from '../../../../core/dialects/json-scan.ts'
import type { Pace } from '../../../../core/dialects/loop-time.ts'
import { readJson } from '../../../../core/dialects/read-json.ts'
import { parseObject } from '../../../shared/backend.ts'
import { headOf, usageOf } from '../../../shared/dialects/responses/resource.ts'
import type { ResponsesRequest } from '../../../shared/dialects/responses/shape.ts'
import { printJson } from '../../../shared/print-json.ts'
import { sseEvents } from '../../../shared/sse.ts'
import { type Chain, comma, joined, type Parts } from './chain.ts'
import { itemsIn, membersOf, shortValue, type Words } from './words.ts'

/** Sends a request to the gateway's own interface, with the key and the address of the connection. */
export type Ask = (path: '' | '/input_tokens', body: Parts, signal: AbortSignal) => Promise<Response>

/** Sends one frame, and resolves when the peer can take the next one. */
export type Say = (text: string | Uint8Array) => Promise<void>

interface Given {
  readonly chain: Chain
  readonly ask: Ask
  readonly say: Say
  readonly bounds: JsonBounds
  readonly pace: Pace
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
export const playTurn = async (words: Words, given: Given, signal: AbortSignal): Promise<TurnEnd> => {
  const { chain, ask, say } = given
  const before = chain.until(words.previous)
  const own = words.input === null ? [] : itemsIn(words.input)
  /** The items of the whole conversation; null where the input is none. */
  const items = before === null || own === null ? null : joined(before, own)
  // Without a call of a model, only new items are checked: those before were checked in turns of their own.
  const isNews = words.isWarm && before !== null && before.length > 0 && own !== null
  const sent = isNews ? (own.length > 0 ? own : someItem) : items
  const answer = await ask(words.isWarm ? '/input_tokens' : '', bodyOf(words, sent, before === null), signal)
  if (!answer.ok) {
    if (items !== null && words.previous !== null) chain.forget()
    await say(JSON.stringify(await refusalOf(answer, before === null)))
    return answer.status === 401 || answer.status === 403 ? 'keyless' : 'played'
  }
  if (words.isWarm) {
    await answer.body?.cancel()
    await sayWarm(words, items ?? [], given)
  } else await sayEvents(answer, items ?? [], given)
  return 'played'
}

/** The body of the turn's request. A response that is not remembered goes on to the route, which refuses it. */
const bodyOf = ({ members, previous, input }: Words, items: Parts | null, isLost: boolean): Parts => [
  ...[Buffer.from('{'), ...members.flatMap((member) => [member, comma]), Buffer.from('"stream":true')],
  ...(isLost && previous !== null ? [comma, previous.whole] : []),
  ...[Buffer.from(',"input":'), ...(items === null ? [input ?? none] : [Buffer.from('['), ...items, Buffer.from(']')])],
  Buffer.from('}'),
]

const none = Buffer.from('[]')

/** What stands for a conversation that nothing was added to: a list of no items would be refused. */
const someItem = itemsIn(Buffer.from('"-"'))

const refusalOf = async (answer: Response, isLost: boolean): Promise<JsonObject> => {
  const { error } = parseObject(await answer.text()) ?? {}
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => told.test(name)))
  const isUnknown = isLost && isJsonObject(error) && error['code'] === 'state_not_supported'
  return { type: 'error', status: answer.status, error: isUnknown ? lostError : (error ?? null), headers }
}

const lostError = {
  message: 'The connection remembers no such response: only its last response can be continued',
  type: 'invalid_request_error',
  param: 'previous_response_id',
  code: 'previous_response_not_found',
}

const sayEvents = async (answer: Response, items: Parts, given: Given): Promise<void> => {
  const { chain, say } = given
  let last: string | null = null
  try {
    for await (const { event, data } of sseEvents(answer.body ?? nothing)) {
      if (event !== null && ends.has(event)) last = data
      await say(data)
    }
  } finally {
    const response = last === null ? null : await responseIn(last, given.pace)
    if (response === null) chain.forget()
    else chain.remember(response.id, joined(items, response.output))
  }
}

/** The response that the last event of an answer holds. */
const responseIn = async (
  event: string,
  pace: Pace,
): Promise<{ readonly id: string; readonly output: Parts } | null> => {
  const within = async (text: Buffer) =>
    new Map((await membersOf(text, noBounds, pace))?.map((member) => [member.name, member]))
  const response = (await within(Buffer.from(event))).get('response')
  if (response === undefined) return null
  const members = await within(response.value)
  const [id, output] = [members.get('id'), members.get('output')]
  const name = id && shortValue(id)
  return typeof name === 'string' ? { id: name, output: (output && itemsIn(output.value)) ?? [] } : null
}

/** A turn without a call of a model: its items are remembered, and its answer is empty. */
const sayWarm = async (words: Words, items: Parts, given: Given): Promise<void> => {
  const { chain, say, id, now, bounds, pace } = given
  const text = Buffer.concat(bodyOf(words, [], false))
  const request = (await readJson(text, 'plain', bounds, pace)) as ResponsesRequest
  const name = id()
  const response = headOf(request, request.model, name, now())
  const usage = usageOf({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })
  await say(await printJson({ type: 'response.created', sequence_number: 0, response }))
  const completed = Object.assign(response, { status: 'completed', completed_at: now(), usage })
  await say(await printJson({ type: 'response.completed', sequence_number: 1, response: completed }))
  chain.remember(name, items)
}

const nothing: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }
