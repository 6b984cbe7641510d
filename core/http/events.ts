import type { ServerResponse } from 'node:http'
import type { Alarm } from '../ports/platform.ts'
import { type ReaderPatience, endAnswer, handOn } from './backpressure.ts'
import { framesOf } from './frames.ts'
import { printEvent } from '../dialects/event.ts'
import { type Flow, flowOf, takeAll } from '../ports/flow.ts'
import type { Quiet, ServerEvent } from './reply.ts'

/** How fast a stream has to be read, and how it is written. */
export interface Pace extends ReaderPatience {
  /** Ms of silence before the first event after which `quiet` speaks, again and again. */
  readonly heartbeat: number
  /** Whether the gateway frames the chunks of HTTP/1.1 itself. */
  readonly ownChunks: boolean
}

/** Proxies such as nginx collect an answer before they pass it on, unless `x-accel-buffering` forbids that. */
export const eventHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

/** Characters of events that go on in one write. */
const mostTogether = 8 * 1024

/** The text of an event, and of those behind it that are there: what one read brought goes on in one write. */
const withReady = (text: string, source: Flow<ServerEvent>): string => {
  while (text.length < mostTogether) {
    const event = source.ready()
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
  const source = flowOf(events)
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
  try {
    await takeAll(source, (event) => {
      beat?.off()
      if (response.destroyed) return true
      begin()
      return handOn(response, frames.frame(withReady(printEvent(event), source)), pace) ?? undefined
    })
    if (!response.destroyed) begin()
  } catch (error) {
    if (!response.headersSent) throw error
    const last = broken(error)
    if (last !== null && !response.destroyed) response.write(framed(last))
  } finally {
    beat?.off()
  }
  await endAnswer(response, frames.last ?? undefined, pace)
}
