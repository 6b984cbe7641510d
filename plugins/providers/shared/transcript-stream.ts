import { garbled, parseObject, toldFault } from '../../shared/backend.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { TranscriptEvent } from '../../../core/ports/upstream.ts'
import { itemsOf } from './event-items.ts'

/** Events of the common audio format; throws for a stream that ends before `transcript.text.done`. */
export const transcriptStream = (answer: Answer, clock: Clock): AsyncIterable<TranscriptEvent> =>
  itemsOf<TranscriptEvent>(
    answer,
    clock,
    ({ data }, into) => {
      const event = eventOf(data)
      into.push(event)
      return event.type === 'transcript.text.done'
    },
    () => {
      throw garbled('The transcript is cut off', answer.status)
    },
  )

const eventOf = (data: string): TranscriptEvent => {
  const event = parseObject(data)
  if (event?.['error'] != null) throw toldFault(event['error'])
  if (typeof event?.['type'] !== 'string' || !event['type'].startsWith('transcript.'))
    throw garbled('An event that is no part of a transcript')
  return event as TranscriptEvent
}
