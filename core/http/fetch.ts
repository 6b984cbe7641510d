import { type IncomingMessage, type RequestListener, createServer, request as ask } from 'node:http'
import { Duplex, Readable } from 'node:stream'
import { BodyTaken } from '../errors.ts'
import type { FetchRequest } from '../ports/surface.ts'

/** Headers that belong to one connection, and to nobody beyond it. */
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect', 'host']

interface End extends Duplex {
  remoteAddress?: string | undefined
  accept(part: Buffer, taken: () => void): void
}

/** Bytes of a long part. The next part has a turn of the loop of its own, since nothing else would come between them. */
const longPart = 32 * 1024

/** Two ends of a connection within this process: what is written on one is read on the other, and both close together. */
const pair = (): readonly [End, End] => {
  const end = (other: () => End): End => {
    let taken: (() => void) | null = null
    const own = new Duplex({
      read() {
        const go = taken
        taken = null
        go?.()
      },
      write(part, _, done) {
        other().accept(part, part.length < longPart ? done : () => setImmediate(done))
      },
      final(done) {
        other().push(null)
        done()
      },
      destroy(error, done) {
        const there = other()
        if (!there.destroyed) queueMicrotask(() => there.destroy())
        done(error)
      },
    })
    const accept: End['accept'] = (part, then) => {
      if (own.destroyed || own.push(part)) then()
      else taken = then
    }
    return Object.assign(own, { accept })
  }
  const near: End = end(() => far)
  const far: End = end(() => near)
  return [near, far]
}

const headersOf = ({ headers, url }: Request): Record<string, string> => ({
  ...Object.fromEntries([...headers].filter(([name]) => !ofConnection.includes(name))),
  host: new URL(url).host,
})

const answerOf = (message: IncomingMessage, method: string): Response => {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(message.headersDistinct))
    if (!ofConnection.includes(name)) for (const value of values) headers.append(name, value)
  const status = message.statusCode!
  const empty = method === 'HEAD' || status === 204 || status === 304
  if (empty) message.resume()
  // A browser's stream and Node's are one at run time; their declarations differ.
  return new Response(empty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>), { status, headers })
}

/** The listener without a port: requests and answers of the web's own kind, streams and aborts included. */
export const fetchOf = (listener: RequestListener): FetchRequest => {
  const server = createServer({ requireHostHeader: false, requestTimeout: 0, headersTimeout: 0 }, listener)
  return (request, { address } = {}) =>
    new Promise((resolve, reject) => {
      const { signal, method, body, url } = request
      signal.throwIfAborted()
      if (request.bodyUsed || body?.locked) throw new BodyTaken()
      const [near, far] = pair()
      far.remoteAddress = address
      const { pathname, search } = new URL(url)
      const asking = ask({
        createConnection: () => near as never,
        method,
        path: pathname + search,
        headers: headersOf(request),
      })
      let answer: IncomingMessage | null = null
      // A reader of the answer learns the reason, as behind the platform's own fetch.
      const leave = () => (answer ?? near).destroy(signal.reason as Error)
      signal.addEventListener('abort', leave, { once: true })
      near.once('close', () => signal.removeEventListener('abort', leave))
      asking.once('error', (error) => reject(signal.aborted ? signal.reason : error))
      asking.once('response', (message) => resolve(answerOf((answer = message), method)))
      server.emit('connection', far)
      if (body === null) return void asking.end()
      const sent = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
      sent.once('error', () => near.destroy())
      near.once('close', () => sent.destroy())
      sent.pipe(asking)
    })
}
