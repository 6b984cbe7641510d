import type { ServerResponse } from 'node:http'
import type { DialectEvent, EventWriter } from '../../../../core/dialects/event.ts'
import type { Chunk } from '../../../../core/ports/upstream.ts'
import { onDrain } from '../../network/on-drain.ts'

/** What a stream needs beside its chunks. */
export interface RelayedStream {
  readonly writer: EventWriter
  /** Headers from the begin of the answer. */
  headers(): Readonly<Record<string, string>>
  /** The last event of a broken stream. */
  broken(error: unknown): DialectEvent
  /** Ms of silence before a sign of life; 15 seconds when undefined. */
  readonly beat: number | undefined
}

/** Server-sent events: each line of the data has a `data:` of its own. */
const printed = ({ event, data }: DialectEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`

/**
 * Writes chunks as events of a dialect, with comments as signs of life during silence. A failure before the first byte
 * throws, so that the answer has its status. A later failure is the last event.
 */
export const relayStream = async (
  response: ServerResponse,
  chunks: () => Promise<AsyncIterable<Chunk>>,
  { writer, headers, broken, beat = 15_000 }: RelayedStream,
): Promise<void> => {
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers() })
  }
  const write = async (text: string): Promise<void> => {
    begin()
    if (text !== '' && !response.write(text) && !response.destroyed) await onDrain(response)
  }
  const life = setInterval(() => {
    begin()
    if (!response.writableNeedDrain) response.write(': waiting\n\n')
  }, beat)
  const events: DialectEvent[] = []
  const flush = () => write(events.splice(0).map(printed).join(''))
  try {
    for await (const chunk of await chunks()) {
      life.refresh()
      writer.take(chunk, events)
      if (events.length > 0) await flush()
    }
    writer.end(events)
    await flush()
  } catch (error) {
    if (!response.headersSent) throw error
    await write(printed(broken(error)))
  } finally {
    clearInterval(life)
  }
  response.end()
}
