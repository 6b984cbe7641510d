import type { ServerResponse } from 'node:http'
import type { DialectEvent, EventWriter } from '../../../../core/dialects/event.ts'
import type { Chunk } from '../../../../core/ports/upstream.ts'
import { drained } from '../../network/on-drain.ts'

/** Ms of silence before a sign of life. */
const beat = 15_000

export interface Relayed {
  readonly writer: EventWriter
  /** Headers that are known once the answer begins. */
  headers(): Readonly<Record<string, string>>
  /** The last event of a stream that breaks. */
  broken(error: unknown): DialectEvent
}

const printed = ({ event, data }: DialectEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`

/**
 * Writes chunks as events of a dialect, with comments as signs of life while none comes. What fails before anything was
 * written is thrown, so that it has its status; later it is the last event.
 */
export const relay = async (
  response: ServerResponse,
  chunks: () => Promise<AsyncIterable<Chunk>>,
  { writer, headers, broken }: Relayed,
): Promise<void> => {
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers() })
  }
  const write = async (text: string): Promise<void> => {
    begin()
    if (text !== '' && !response.write(text) && !response.destroyed) await drained(response)
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
