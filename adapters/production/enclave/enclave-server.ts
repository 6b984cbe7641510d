import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { GatewayError, Unavailable } from '../../../core/errors.ts'
import { type Enclave, type Grant, type WantedHead, longestSealed } from '../../../core/ports/enclave.ts'
import { drained } from '../network/on-drain.ts'
import { bytesThenLines, linesOf } from './read-lines.ts'
import { askingBack } from './file-rpc.ts'

/** How far a confidential process is on its way out. */
export interface Leave {
  /** Gateways are to take it for gone: nothing more is sealed to its keys. */
  hidden: boolean
  /** No call begins any more. */
  closed: boolean
  /** Calls that are under way. */
  active: number
}

const questions = askingBack(randomUUID)

/** The calls of a gateway. Each answers with questions and a result as lines of JSON, or with frames, a line each, and a trailer. */
export const answering =
  (it: Enclave, leave: Leave): RequestListener =>
  async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => response.writableFinished || gone.abort(left))
    const say = (value: unknown) => response.write(`${JSON.stringify(value)}\n`)
    try {
      const url = new URL(request.url ?? '/', 'unix://enclave')
      const path = url.pathname.slice(1)
      if (path.startsWith('handle/')) await handled(path.slice(7))
      else if (await questions.serve(path, request, response)) return
      else if (leave.hidden) throw new Unavailable()
      else if (path === 'keys') say(await it.keys())
      else if (path === 'attest')
        say(await it.attest(new Uint8Array(Buffer.from(url.searchParams.get('challenge') ?? '', 'hex'))))
      else if (path === 'models') say(await it.models(gone.signal))
      else if (path === 'head' && it.signHead !== undefined)
        say(await it.signHead(JSON.parse(url.searchParams.get('wanted') ?? '{}') as WantedHead))
      else throw new Unavailable()
      response.end()
    } catch (error) {
      refuse(error, request, response)
    }

    async function handled(route: string): Promise<void> {
      if (leave.closed) throw new Unavailable()
      leave.active++
      response.once('close', () => leave.active--)
      const grant = JSON.parse(decodeURIComponent(String(request.headers['grant']))) as Grant
      const { sealed, spoken } = await incoming(request)
      const shelf = questions.shelf((ask) => say({ ask }), gone.signal)
      const reply = await it.handle(route, sealed, grant, gone.signal, shelf)
      if (reply.kind === 'body') say(reply)
      else {
        say({ kind: 'frames' })
        // No backend is asked before the gateway has a place for the stream; when its half of the line ends, the caller has left.
        await one(spoken!)
        let over = false
        const stop = () => over || gone.abort(left)
        spoken!.next().then(stop, stop)
        for await (const frame of reply.frames) {
          if (!response.write(`${frame}\n`) && !response.destroyed) await drained(response)
        }
        say({ trailer: await reply.trailer })
        over = true
      }
      // Its half ends first: where both end at once, Node's agent gives the connection to two calls.
      while (spoken !== null && !(await spoken.next()).done) continue
    }
  }

const left = new Error('The caller or the gateway left')

const one = async (lines: AsyncIterator<string>): Promise<string> => {
  const { done, value } = await lines.next()
  if (done) throw new Unavailable()
  return value
}

interface Incoming {
  readonly sealed: Parameters<Enclave['handle']>[1]
  /** What the gateway says beside the body; null where its half of the line is the body. */
  readonly spoken: AsyncGenerator<string, undefined> | null
}

/** A body on the first line, as bytes before the lines, or as a stream. */
const incoming = async (request: IncomingMessage): Promise<Incoming> => {
  const { large } = request.headers
  if (large === 'yes') return { sealed: lasting(request), spoken: null }
  if (large === undefined) {
    const spoken = linesOf(request)
    return { sealed: JSON.parse(await one(spoken)) as Record<string, unknown>, spoken }
  }
  const length = Number(large)
  if (!(Number.isInteger(length) && length > 0 && length <= longestSealed)) throw new Unavailable()
  const { bytes, lines } = await bytesThenLines(request, length)
  return { sealed: bytes, spoken: lines }
}

/** Only what the catalogue and the outer checks say; everything else is the same word. */
const refuse = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
  const known = error instanceof GatewayError ? error : new Unavailable()
  if (!request.complete) request.resume()
  if (response.headersSent) return void response.destroy()
  response.writeHead(known.status, { 'content-type': 'application/json' })
  response.end(
    `${JSON.stringify({ name: known.name, message: known.message, validator: known.validator, retryAfter: known.retryAfter })}\n`,
  )
}

/** Leaving off early keeps the connection: the refusal still has to go out on it. */
const lasting = (request: IncomingMessage): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }),
})
