import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { Chunk, Completion, Whole, WireEvents } from '../../../core/ports/upstream.ts'
import type { Soon } from '../../../core/ports/soon.ts'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import {
  atOnceBytes,
  garbled,
  objectIn,
  objectOf,
  parseObject,
  toldFault,
  unmarked,
  itemsIn,
} from '../../shared/backend.ts'
import { type Parsed, chunkReader } from '../../shared/repeated-chunks.ts'
import { itemsBy, unpackedEvents } from './event-items.ts'

/** What the backend's JSON may leave out. */
interface JsonObject {
  [field: string]: unknown
}

interface LooseChunk extends JsonObject {
  choices: { delta?: JsonObject | null; message?: JsonObject | null; finish_reason?: string | null; index: number }[]
}

/** The ids of the calls of one stream, by choice: they number pieces that came without a number. */
type CallNumbers = Map<number, string[]>

/** Turns the usage that a backend told into the counts of the common format. */
export type Counts = (told: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>

/**
 * Reads the events of one stream. It ends well only behind the end mark, or, for a backend that never sends one, when every
 * choice has its finish reason.
 */
export const chunkEvents = (status: number, marksEnd: boolean, counts?: Counts): WireEvents => {
  const open = new Set<number>()
  let spoken = false

  const note = ({ choices }: Chunk) => {
    for (const { index, finish_reason } of choices) {
      spoken = true
      if (finish_reason === null) open.add(index)
      else open.delete(index)
    }
  }

  const numbers: CallNumbers = new Map()
  const read = chunkReader((data) => parsed(null, data, counts, numbers))

  const events = unpackedEvents<Chunk>(
    ({ event, data }, into) => {
      if (data.startsWith('[DONE]')) return true
      const chunk = event === null ? read(data) : parsed(event, data, counts, numbers).chunk
      if (!marksEnd) note(chunk)
      into.push(chunk)
      return false
    },
    () => {
      if (marksEnd || !spoken || open.size > 0) throw garbled('The stream ended without its end mark', status)
    },
  )
  return { forgets: ['content', 'reasoning_content'], ...events }
}

/** The chunks of an event stream. */
export const chunksOf = (answer: Answer, clock: Clock, marksEnd: boolean, counts?: Counts): AsyncIterable<Chunk> =>
  itemsBy(answer, clock, chunkEvents(answer.status, marksEnd, counts))

/** `isAsSent` is true when nothing was changed, so that the backend's own text can go on. */
const parsed = (event: string | null, data: string, counts: Counts | undefined, numbers: CallNumbers): Parsed => {
  const chunk = parseObject(data)
  if (chunk === null) throw event === 'error' ? toldFault(data) : garbled('A malformed event')
  const fault = chunk['error'] ?? (chunk['x_groq'] as JsonObject | null | undefined)?.['error']
  if (fault != null || event === 'error') throw toldFault(fault ?? chunk)
  let isAsSent = chunk['choices'] != null && (counts === undefined || chunk['usage'] == null)
  const loose = checked(chunk, counts)
  for (const choice of loose.choices) {
    const told = choice.finish_reason
    if (choice.delta == null || choice.delta['reasoning'] !== undefined || Array.isArray(choice.delta['content']))
      isAsSent = false
    choice.delta = thoughts(choice.delta ?? {})
    if (listed(choice.delta) || spelled(choice.delta['tool_calls'])) isAsSent = false
    if (numbered(choice.delta['tool_calls'], choice.index, numbers)) isAsSent = false
    choice.finish_reason = reasonOf(told)
    if (choice.finish_reason !== told) isAsSent = false
  }
  return { chunk: loose as unknown as Chunk, isAsSent }
}

/** Leaves lists of objects in the places of lists, without what else stands there. True where a place was changed. */
const listed = (said: JsonObject): boolean => {
  const strange = ['tool_calls', 'annotations'].filter(
    (name) => said[name] != null && itemsIn(said[name]) !== said[name],
  )
  for (const name of strange) said[name] = itemsIn(said[name])
  return strange.length > 0
}

/** Says the kind of calls that came without one, and prints arguments that came as an object. True where a call was changed. */
const spelled = (calls: unknown): boolean => {
  let isChanged = false
  for (const call of (calls ?? []) as JsonObject[]) {
    const called = call['function'] as JsonObject | null | undefined
    if (called != null && isJsonObject(called['arguments'])) {
      called['arguments'] = JSON.stringify(called['arguments'])
      isChanged = true
    }
    if (call['type'] !== undefined || typeof call['id'] !== 'string') continue
    call['type'] = 'function'
    isChanged = true
  }
  return isChanged
}

/** Numbers pieces of calls that came without a number, by the ids that begin them. True where a piece had none. */
const numbered = (calls: unknown, choice: number, numbers: CallNumbers): boolean => {
  if (!Array.isArray(calls)) return false
  let isChanged = false
  const ids = numbers.get(choice) ?? []
  for (const call of calls as JsonObject[]) {
    if (Number.isInteger(call['index'])) continue
    isChanged = true
    const { id } = call
    if (typeof id === 'string' && id !== '' && !ids.includes(id)) ids.push(id)
    call['index'] = typeof id === 'string' && id !== '' ? ids.indexOf(id) : Math.max(0, ids.length - 1)
  }
  if (isChanged) numbers.set(choice, ids)
  return isChanged
}

/** An answer that came whole. Throws UpstreamFailed when it is none. */
export const wholeOf = (text: string, status: number, counts?: Counts): Whole =>
  completedOf(objectIn(text, status), text, counts)

/** The same of bytes; a long answer is read in turns of the loop. */
export const wholeIn = (bytes: Uint8Array, status: number, counts?: Counts): Soon<Whole> => {
  const text = bytes.length > atOnceBytes ? null : unmarked(bytes).toString('utf8')
  const body = objectOf(bytes, status, text)
  return body instanceof Promise
    ? body.then((read) => completedOf(read, text, counts))
    : completedOf(body, text, counts)
}

const completedOf = (body: Record<string, unknown>, text: string | null, counts?: Counts): Whole => {
  if (body['error'] != null) throw toldFault(body['error'])
  let asSent = body['choices'] != null && (counts === undefined || body['usage'] == null)
  const loose = checked(body, counts)
  for (const choice of loose.choices) {
    if (typeof choice.message !== 'object' || choice.message === null) throw garbled('A choice without a message')
    const told = choice.finish_reason
    if (choice.message['reasoning'] !== undefined || Array.isArray(choice.message['content'])) asSent = false
    choice.message = thoughts(choice.message)
    if (listed(choice.message) || spelled(choice.message['tool_calls'])) asSent = false
    if (choice.message['content'] === undefined) {
      choice.message['content'] = null
      asSent = false
    }
    choice.finish_reason = reasonOf(told)
    if (choice.finish_reason !== told) asSent = false
  }
  const completion = loose as unknown as Completion
  return asSent ? { kind: 'completion', completion, text } : { kind: 'completion', completion }
}

/** A chunk with usage may lack its choices. Throws UpstreamFailed for other bodies without choices. */
const checked = (body: Record<string, unknown>, counts?: Counts): LooseChunk => {
  if (counts && body['usage'] != null) body['usage'] = counts(body['usage'] as JsonObject)
  if (typeof body['usage'] === 'object') withCached(body['usage'] as JsonObject | null)
  if (body['choices'] == null && body['usage'] != null) body['choices'] = []
  if (!Array.isArray(body['choices'])) throw garbled('No choices in the answer')
  for (const choice of body['choices']) {
    if (typeof choice !== 'object' || choice === null) throw garbled('A choice that is none')
    if (choice.error != null) throw toldFault(choice.error)
  }
  return body as LooseChunk
}

/** Some backends tell what the cache held beside the other counts, and not in their details. */
const withCached = (usage: JsonObject | null): void => {
  if (usage === null || typeof usage['cached_tokens'] !== 'number') return
  usage['prompt_tokens_details'] ??= { cached_tokens: usage['cached_tokens'] }
}

/** Other names of ends. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['eos', 'stop'],
  ['model_length', 'length'],
])

/** Null while the answer goes on. Throws UpstreamFailed for an end that is none: the backend broke the answer off. */
const reasonOf = (told: string | null | undefined): string | null => {
  if (told == null) return null
  if (told === 'insufficient_system_resource' || told === 'error') throw garbled('The backend broke the answer off')
  return reasons.get(told) ?? told
}

const textOf = (pieces: readonly JsonObject[]): string => pieces.map(({ text }) => text ?? '').join('')

/** Some backends call thoughts `reasoning`, others put them beside the text: `reasoning_content` is what callers look for. */
const thoughts = (message: JsonObject): JsonObject => {
  if (Array.isArray(message['content'])) {
    const pieces = itemsIn(message['content'])
    const thinking = textOf(pieces.flatMap((piece) => itemsIn(piece['thinking'])))
    message['content'] = textOf(pieces)
    if (thinking !== '') message['reasoning_content'] = thinking
  }
  if (typeof message['reasoning'] === 'string' && message['reasoning_content'] === undefined)
    message['reasoning_content'] = message['reasoning']
  return message
}
