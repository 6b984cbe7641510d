import type { Answer, Door } from '../../../core/ports/platform.ts'
import { refusalHeader } from '../../sealed/wire/body.ts'

/** Headers of an answer that the sealing client reads. */
const read = ['content-type', 'date', 'retry-after', 'retry-after-ms', 'x-request-id', refusalHeader] as const

/** The platform's `fetch` over a door of the gateway, for a client that runs in browsers too. */
export const fetchThrough =
  (door: Door): typeof globalThis.fetch =>
  async (target, { method, headers, body, signal } = {}) => {
    const answer = await door(String(target), {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
      signal: signal ?? new AbortController().signal,
    })
    return new Response(streamOf(answer), { status: answer.status, headers: headersOf(answer) })
  }

const headersOf = ({ header }: Answer): Record<string, string> =>
  Object.fromEntries(
    read.flatMap((name) => {
      const value = header(name)
      return value === null ? [] : [[name, value]]
    }),
  )

/** A reader that stops early closes the socket. */
const streamOf = ({ body, discard }: Answer): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const parts = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value as Uint8Array<ArrayBuffer>)
    },
    cancel: () => discard(),
  })
}
