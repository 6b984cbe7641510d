import { googleError } from '../../shared/dialects/generate-content/error.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { knownError } from '../../../core/http/http-errors.ts'
import type { ServerEvent } from '../../../core/http/reply.ts'

/** A stream's events as the items of one JSON array; its last item tells of a break. */
export const jsonArrayOf = (events: AsyncIterableIterator<ServerEvent>, report: (error: GatewayError) => void) => {
  const items = async function* (first: IteratorResult<ServerEvent>): AsyncGenerator<Uint8Array> {
    let mark = '['
    try {
      for (let step = first; !step.done; step = await events.next()) {
        if ('comment' in step.value) continue
        yield Buffer.from(mark + step.value.data)
        mark = ',\n'
      }
    } catch (cause) {
      const error = knownError(cause)
      report(error)
      yield Buffer.from(mark + JSON.stringify(googleError(error)))
      mark = ',\n'
    } finally {
      await events.return?.()
    }
    yield Buffer.from(mark === '[' ? '[]' : ']')
  }
  return {
    /** Resolves when the backend begins to answer; rejects when none does. */
    begun: async (): Promise<AsyncIterable<Uint8Array>> => items(await events.next()),
  }
}
