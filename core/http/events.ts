import type { ServerResponse } from 'node:http'
import type { Alarm } from '../ports/platform.ts'
import { type ReaderPatience, endAnswer, handOn } from './backpressure.ts'
import { framesOf } from './frames.ts'
import { printEvent } from '../dialects/event.ts'
import type { PromptIterator } from '../ports/prompt-iterator.ts'
import type { Quiet, ServerEvent } from './reply.ts'

/** How fast a stream has to be read, and how it is written. */
export interface Pace extends ReaderPatience {
  /** Ms of silence before the first event after which `quiet` speaks, again and again. */
  readonly heartbeat: number
  /** Whether the gateway frames the chunks of HTTP/1.1 itself. */
  readonly ownChunks: boolean
}

/** Characters of events that go on in one write. */
const mostTogether = 8 * 1024

/** The text of an event, and of those behind it that are there: what one read brought goes on in one write. */
const withReady = (text: string, source: PromptIterator<ServerEvent>): string => {
  while (text.length < mostTogether) {
    const event = source.ready?.() ?? null
    if (event === null) return text
    text += printEvent(event)
  }
  return text
}

/**
 * Writes each event at once and waits while the reader is slow. An error before anything was written is thrown, so that
 * it can be answered as any other; after that the last event is `broken`, when there is one to say. The source is
 * always closed, and the response always ended. `head` is asked for when the first event goes.
 */
export const sendEvents = async (
  response: ServerResponse,
  head: () => Readonly<Record<string, string | number>>,
  events: AsyncIterable<ServerEvent>,
  quiet: Quiet | null,
  broken: (error: unknown) => ServerEvent | null,
  pace: Pace,
): Promise<void> => {
  const source: PromptIterator<ServerEvent> = events[Symbol.asyncIterator]()
  const frames = framesOf(response, pace.ownChunks)
  const begin = (): void => {
    if (response.headersSent) return
    response.writeHead(200, { ...head(), ...frames.headers })
    frames.begin()
  }
  const framed = (event: ServerEvent): string => frames.frame(printEvent(event))
  const beating = (say: Quiet): Alarm =>
    pace.clock.alarm(pace.heartbeat, () => {
      if (response.destroyed) return
      if (!response.writableNeedDrain) {
        begin()
        response.write(framed(say()))
      }
      beat = beating(say)
    })
  let beat = quiet === null ? null : beating(quiet)
  let ended = false
  try {
    for (let silent = true; ; silent = false) {
      const { done, value } = await source.next()
      if (silent) beat?.off()
      ended = done === true
      if (ended || response.destroyed) break
      begin()
      const full = handOn(response, frames.frame(withReady(printEvent(value), source)), pace)
      if (full !== null) await full
    }
    begin()
  } catch (error) {
    ended = true
    if (!response.headersSent) throw error
    const last = broken(error)
    if (last !== null && !response.destroyed) response.write(framed(last))
  } finally {
    beat?.off()
    if (!ended) await source.return?.()
  }
  await endAnswer(response, frames.last ?? undefined, pace)
}
