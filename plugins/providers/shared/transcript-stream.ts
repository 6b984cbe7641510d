import { finish, garbled, parseObject, toldFault } from '../../shared/backend.ts'
import { sseUnpacker } from '../../shared/sse.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { TranscriptEvent } from '../../../core/ports/upstream.ts'

/** Events of the common audio format; throws for a stream that ends before `transcript.text.done`. */
export async function* transcriptStream(answer: Answer, clock: Clock): AsyncGenerator<TranscriptEvent, void> {
  const reads = answer.body[Symbol.asyncIterator]()
  const unpack = sseUnpacker()
  const events: Parameters<typeof unpack>[1] = []
  let done = false
  try {
    while (!done) {
      const { done: ended, value } = await reads.next()
      if (ended) throw garbled('The transcript is cut off', answer.status)
      unpack(value, events)
      for (const { data } of events.splice(0)) {
        const event = eventOf(data)
        done = event.type === 'transcript.text.done'
        yield event
        if (done) return
      }
    }
  } finally {
    if (done) finish(reads, answer, clock)
    else answer.discard()
  }
}

const eventOf = (data: string): TranscriptEvent => {
  const event = parseObject(data)
  if (event?.['error'] != null) throw toldFault(event['error'])
  if (typeof event?.['type'] !== 'string' || !event['type'].startsWith('transcript.'))
    throw garbled('An event that is no part of a transcript')
  return event as TranscriptEvent
}
