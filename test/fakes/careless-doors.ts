import { PassThrough, pipeline, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { UpstreamFailed } from '../../core/errors.ts'
import type { Answer, Ask, Door, Fetch } from '../../core/ports/platform.ts'

const around = (wrap: (door: Door) => Door) => (right: Fetch) => ({ upstream: wrap(right.upstream) })
const changed = (change: (answer: Answer, ask: Ask) => Partial<Answer>) =>
  around((door) => async (url, ask) => {
    const answer = await door(url, ask)
    return { ...answer, ...change(answer, ask) }
  })
const caught = (instead: (fault: unknown, ask: Ask) => unknown) =>
  around(
    (door) => (url, ask) =>
      door(url, ask).catch((fault) => {
        throw instead(fault, ask)
      }),
  )

/** For each promise of a door to the network, one that breaks it. */
export const wrong = {
  'gives status and headers': changed(({ header }) => ({ header: (name) => header(name) ?? '' })),
  'carries method, path, headers and body': around(
    (door) => (url, ask) => door(url, { ...ask, ...(typeof ask.body === 'string' ? {} : { body: String(ask.body) }) }),
  ),
  'gives the body byte for byte': changed(({ body }) => ({
    body: (async function* () {
      for await (const part of body) yield Buffer.from(Buffer.from(part).toString())
    })(),
  })),
  'gives each part of the body as it comes': changed(({ body }) => ({
    body: (async function* () {
      yield await buffer(body)
    })(),
  })),
  'any status is an answer': around((door) => async (url, ask) => {
    const answer = await door(url, ask)
    if (answer.status < 500) return answer
    answer.discard()
    throw new UpstreamFailed()
  }),
  'follows no redirect': around((door) => async (url, ask) => {
    const answer = await door(url, ask)
    const location = answer.header('location')
    if (location === null) return answer
    answer.discard()
    return door(new URL(location, url).href, ask)
  }),
  'a refused connection may be tried again': caught((fault) =>
    fault instanceof UpstreamFailed && (fault.cause as NodeJS.ErrnoException).code === 'ECONNREFUSED'
      ? new UpstreamFailed()
      : fault,
  ),
  'a connection cut before the answer may be tried again': caught((fault) =>
    fault instanceof UpstreamFailed && (fault.cause as NodeJS.ErrnoException).code === 'UND_ERR_SOCKET'
      ? fault.cause
      : fault,
  ),
  'a body that is cut does not end as if it were whole': changed(({ body }, { signal }) => ({
    body: (async function* () {
      try {
        yield* body
      } catch (fault) {
        if (signal.aborted) throw fault
      }
    })(),
  })),
  'asks nobody when the signal has fired': around((door) => async (url, ask) => {
    if (!ask.signal.aborted) return door(url, ask)
    const answer = door(url, { ...ask, signal: new AbortController().signal, patience: 50 })
    await answer.catch(() => {})
    throw ask.signal.reason
  }),
  'waiting for the answer ends with the reason of the signal': around((door) => async (url, ask) => {
    ask.signal.throwIfAborted()
    return door(url, ask).catch((fault) => {
      throw ask.signal.aborted ? new UpstreamFailed(undefined, { again: true }) : fault
    })
  }),
  'reading the body ends with the reason of the signal': changed(({ body }, { signal }) => ({
    body: (async function* () {
      try {
        yield* body
      } catch (fault) {
        throw signal.aborted ? new UpstreamFailed() : fault
      }
    })(),
  })),
  'leaving the body early closes the socket': changed(({ body }) => ({
    body: {
      [Symbol.asyncIterator]() {
        const parts = body[Symbol.asyncIterator]()
        return { next: () => parts.next() }
      },
    },
  })),
  'discarding closes the socket': changed(() => ({ discard() {} })),
  'waits for the answer no longer than its patience': around(
    (door) =>
      (url, { patience: _, ...ask }) =>
        door(url, ask),
  ),
  'patience is for the head alone': around((door) => (url, ask) => {
    const { patience } = ask
    if (patience === undefined) return door(url, ask)
    const late = new UpstreamFailed(undefined, { again: true })
    const stop = new AbortController()
    setTimeout(() => stop.abort(late), patience)
    return door(url, { ...ask, signal: AbortSignal.any([ask.signal, stop.signal]) })
  }),
  'a reader that waits holds the sender back': changed(({ body }) => ({
    body: pipeline(Readable.from(body), new PassThrough({ highWaterMark: 2 ** 30 }), () => {}),
  })),
}
