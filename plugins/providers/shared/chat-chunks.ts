import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { ChatAnswer, Chunk, Completion } from '../../../core/ports/upstream.ts'
import { garbled, parseObject, toldFault } from '../../../core/dialects/backend.ts'
import { itemsOf } from './event-items.ts'

/** What the backend's JSON may leave out. */
interface Fields {
  [field: string]: unknown
}

interface Loose extends Fields {
  choices: { delta?: Fields | null; message?: Fields | null; finish_reason?: string | null; index: number }[]
}

/**
 * The chunks of an event stream. It ends well only behind the end mark, or, for a backend that never sends one, when every
 * choice has its finish reason.
 */
export const chunksOf = (answer: Answer, clock: Clock, marksEnd: boolean): AsyncIterable<Chunk> => {
  const open = new Set<number>()
  let spoken = false

  const note = ({ choices }: Chunk) => {
    for (const { index, finish_reason } of choices) {
      spoken = true
      if (finish_reason === null) open.add(index)
      else open.delete(index)
    }
  }

  return itemsOf<Chunk>(
    answer,
    clock,
    ({ event, data }, into) => {
      if (data.startsWith('[DONE]')) return true
      const chunk = chunkOf(event, data)
      if (!marksEnd) note(chunk)
      into.push(chunk)
      return false
    },
    () => {
      if (marksEnd || !spoken || open.size > 0) throw garbled('The stream ended without its end mark', answer.status)
    },
  )
}

const chunkOf = (event: string | null, data: string): Chunk => {
  const chunk = parseObject(data)
  if (chunk === null) throw event === 'error' ? toldFault(data) : garbled('A malformed event')
  if (chunk['error'] != null || event === 'error') throw toldFault(chunk['error'] ?? chunk)
  const loose = checked(chunk)
  for (const choice of loose.choices) {
    choice.delta = thoughts(choice.delta ?? {})
    choice.finish_reason ??= null
  }
  return loose as unknown as Chunk
}

/** An answer that came whole. Throws UpstreamFailed when it is none. */
export const wholeOf = (text: string, status: number): Extract<ChatAnswer, { kind: 'completion' }> => {
  const body = parseObject(text)
  if (body === null) throw garbled('The answer is not a JSON object', status)
  if (body['error'] != null) throw toldFault(body['error'])
  let asSent = body['choices'] != null
  const loose = checked(body)
  for (const choice of loose.choices) {
    if (choice.message == null) throw garbled('A choice without a message')
    if (choice.finish_reason === undefined || choice.message['reasoning'] !== undefined) asSent = false
    choice.message = thoughts(choice.message)
    choice.finish_reason ??= null
  }
  const completion = loose as unknown as Completion
  return asSent ? { kind: 'completion', completion, text } : { kind: 'completion', completion }
}

const checked = (body: Record<string, unknown>): Loose => {
  if (body['choices'] == null && body['usage'] != null) body['choices'] = []
  if (!Array.isArray(body['choices'])) throw garbled('No choices in the answer')
  for (const choice of body['choices']) {
    if (typeof choice !== 'object' || choice === null) throw garbled('A choice that is none')
    if (choice.error != null) throw toldFault(choice.error)
  }
  return body as Loose
}

/** Some backends call their thoughts `reasoning`: the name that callers look for is added. */
const thoughts = (it: Fields): Fields => {
  if (typeof it['reasoning'] === 'string' && it['reasoning_content'] === undefined)
    it['reasoning_content'] = it['reasoning']
  return it
}
