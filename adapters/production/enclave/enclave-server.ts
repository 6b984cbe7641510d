import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { GatewayError, Unavailable } from '../../../core/errors.ts'
import { type Enclave, type Grant, type SealedReply, longestSealed } from '../../../core/ports/enclave.ts'
import { type WantedHead, logSignerOf } from '../../../plugins/sealed/log-signer.ts'
import { type Flow, flowOf, takeAll } from '../../../core/ports/flow.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { onDrain } from '../network/on-drain.ts'
import { bytesThenLines, linesOf } from './read-lines.ts'
import { openQuestions } from './file-rpc.ts'
import { leaving } from './enclave-health.ts'

/** How far an enclave process has shut down. */
export interface ShutdownState {
  /** True when gateways must count this process as gone and seal no more requests to its keys. */
  hidden: boolean
  /** True when no new call may begin. */
  closed: boolean
  /** The number of calls in progress. */
  active: number
}

const questions = openQuestions(randomUUID)

/**
 * Serves a gateway's calls. An answer consists of questions and a result as lines of JSON, or of frames, one per line,
 * and a trailer.
 */
export const enclaveServer = (enclave: Enclave, leave: ShutdownState): RequestListener => {
  const signer = logSignerOf(enclave)
  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => response.writableFinished || gone.abort(left))
    const say = (value: unknown) => response.write(`${JSON.stringify(value)}\n`)
    try {
      const url = new URL(request.url ?? '/', 'unix://enclave')
      const path = url.pathname.slice(1)
      if (path.startsWith('handle/')) await handled(path.slice(7))
      else if (await questions.serve(path, request, response)) return
      else if (leave.hidden) throw new Unavailable()
      else if (path === 'keys') say(await enclave.keys())
      else if (path === 'attest')
        say(await enclave.attest(new Uint8Array(Buffer.from(url.searchParams.get('challenge') ?? '', 'hex'))))
      else if (path === 'models') say(await enclave.models(gone.signal))
      else if (path === 'head' && signer !== null)
        say(await signer.signHead(JSON.parse(url.searchParams.get('wanted') ?? '{}') as WantedHead))
      else throw new Unavailable()
      response.end()
    } catch (error) {
      refuse(error, request, response)
    }

    async function handled(route: string): Promise<void> {
      if (leave.closed) throw Object.assign(new Unavailable(), { name: leaving })
      leave.active++
      response.once('close', () => leave.active--)
      const grant = JSON.parse(decodeURIComponent(String(request.headers['grant']))) as Grant
      const { sealed, spoken } = await incoming(request)
      const enclaveFiles = questions.enclaveFiles((ask) => say({ ask }), gone.signal)
      const reply = await enclave.handle(route, sealed, grant, gone.signal, enclaveFiles)
      if (reply.kind === 'body') await sayBody(response, reply, request.headers['long'] === 'lines')
      else {
        say({ kind: 'frames' })
        // The backend is asked only after the gateway has a place for the stream. When the gateway ends its half, the
        // caller has left.
        await one(spoken!)
        let over = false
        const stop = () => over || gone.abort(left)
        spoken!.next().then(stop, stop)
        // A frame is hex and a chunk of HTTP/1.1, which goes out in one write, where Node's own takes four.
        response.chunkedEncoding = false
        await takeAll(flowOf(reply.frames), (frame) => {
          const chunk = `${(frame.length + 1).toString(16)}\r\n${frame}\n\r\n`
          return response.write(chunk, 'latin1') || response.destroyed ? false : onDrain(response)
        })
        response.chunkedEncoding = true
        say({ trailer: await reply.trailer })
        over = true
      }
      // The gateway's half must end first: when both halves end together, Node's agent gives the connection to two
      // calls.
      while (spoken !== null && !(await spoken.next()).done) continue
    }
  }
}

type SealedBody = Extract<SealedReply, { kind: 'body' }>['body']

/** Bytes of a long answer that stand on one line. Digits of base64 stand for three bytes each. */
const lineBytes = 3 * 16 * 1024

/**
 * One line of JSON. The bytes of a long answer stand on lines behind it, each of which takes a turn of the loop. An older
 * gateway knows no such lines.
 */
const sayBody = async (
  response: ServerResponse,
  reply: Extract<SealedReply, { kind: 'body' }>,
  inLines: boolean,
): Promise<void> => {
  const say = (body: SealedBody, long?: object) => response.write(`${JSON.stringify({ ...reply, body, long })}\n`)
  const [name = '', bytes] = Object.entries(reply.body).find(([, value]) => value instanceof Uint8Array) ?? []
  if (!(bytes instanceof Uint8Array)) return void say(reply.body)
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!inLines) return void say({ ...reply.body, [name]: whole.toString('hex') })
  say({ ...reply.body, [name]: null }, { name, length: whole.length })
  for (let at = 0; at < whole.length && !response.destroyed; at += lineBytes) {
    await freeTurn()
    if (!response.write(`${whole.toString('base64', at, at + lineBytes)}\n`, 'latin1')) await onDrain(response)
  }
}

/** Made once: the stack of such an error tells nothing. */
const left = new Error('The caller or the gateway left')

/** Throws Unavailable when the gateway ended its half before the line. */
const one = async (lines: AsyncIterator<string>): Promise<string> => {
  const { done, value } = await lines.next()
  if (done) throw new Unavailable()
  return value
}

/** A request as the gateway sends it: the sealed body, and perhaps lines behind it. */
interface Incoming {
  readonly sealed: Parameters<Enclave['handle']>[1]
  /** The gateway's lines beside the body; null when the body occupies its half of the line. */
  readonly spoken: Flow<string> | null
}

/** A body on the first line, as a stream of known length before the lines, or as a stream alone. */
const incoming = async (request: IncomingMessage): Promise<Incoming> => {
  const { large } = request.headers
  if (large === 'yes') return { sealed: withoutClosing(request), spoken: null }
  if (large === undefined) {
    const spoken = linesOf(request)
    return { sealed: JSON.parse(await one(spoken)) as Record<string, unknown>, spoken }
  }
  const length = Number(large)
  if (!(Number.isInteger(length) && length > 0 && length <= longestSealed)) throw new Unavailable()
  const { bytes, lines } = bytesThenLines(request, length)
  return { sealed: bytes, spoken: lines }
}

/** Only texts of the catalogue and the outer checks go out; any other error becomes Unavailable. */
const refuse = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
  const known = error instanceof GatewayError ? error : new Unavailable()
  if (!request.complete) {
    // A request with such a listener does not flow, and its connection would stay taken.
    request.removeAllListeners('readable')
    request.resume()
  }
  if (response.headersSent) return void response.destroy()
  response.writeHead(known.status, { 'content-type': 'application/json' })
  response.end(
    `${JSON.stringify({ name: known.name, message: known.message, validator: known.validator, retryAfter: known.retryAfter })}\n`,
  )
}

/** The connection stays open when reading stops early, since the refusal goes out on it. */
const withoutClosing = (request: IncomingMessage): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }),
})
