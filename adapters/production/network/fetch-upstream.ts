import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Agent, Dispatcher, buildConnector } from 'undici'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, AnswerHeaders, AnswerLine, AnswerReader, Ask, Door, Push } from '../../../core/ports/platform.ts'
import { type End, Flow, cleanEnd } from '../../../core/ports/flow.ts'

/** In bytes: when more data waits for its reader, the socket is paused. */
const pauseAtBytes = 64 * 1024

const plain = /^(https?:\/\/[^/?#@\\\s]+)(\/[!"$-~]*)?$/

/** A pattern instead of URL parsing, which would cost as much as the rest of the call. */
const places = new Map<string, { origin: string; path: string }>()
const place = (url: string): { origin: string; path: string } => {
  let place = places.get(url)
  if (place === undefined) {
    if (places.size > 1000) places.clear()
    places.set(url, (place = placeOf(url)))
  }
  return place
}
const placeOf = (url: string): { origin: string; path: string } => {
  const parts = plain.exec(url)
  if (parts?.[1]) return { origin: parts[1], path: parts[2] ?? '/' }
  const { origin, pathname, search, username, password } = new URL(url)
  if (username || password) throw new TypeError('Credentials belong in a header')
  return { origin, path: pathname + search }
}

/** Codes that name a fault of the call itself: another backend would meet the same fault. */
const misused = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'ERR_INVALID_URL'])

const failed = (cause: unknown, answered: number | null): UpstreamFailed => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  return new UpstreamFailed(undefined, { again: !misused.has(code as string), cause, answered })
}

/** The two ways in which the promise of an answer ends. */
interface Head {
  resolve(answer: Answer): void
  reject(reason: unknown): void
}

/**
 * One call between undici's handler and an Answer. undici's own `request` builds a stream for each call, which costs
 * more.
 */
class Exchange extends Flow<Uint8Array> implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal
  #head: Head | null
  #patience: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | null = null
  #status: number | null = null
  #chunks: Uint8Array[] = []
  #held = 0
  /** Tells the reader that waits. */
  #go: (() => void) | null = null
  #end: End | null = null

  constructor(ask: Ask, head: Head) {
    super()
    this.#signal = ask.signal
    this.#head = head
    ask.signal.addEventListener('abort', this)
    if (ask.patience !== undefined) this.#patience = setTimeout(this.#impatient, ask.patience)
  }

  /** The caller's signal fired. */
  handleEvent(): void {
    this.#cut(this.#signal.reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The call was aborted while the connection was being made.
    if (this.#end?.fault != null) controller.abort(this.#end.fault as Error)
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return
    clearTimeout(this.#patience)
    this.#status = status
    this.#head?.resolve({
      status,
      header(name) {
        const value = headers[name]
        return value === undefined ? null : typeof value === 'string' ? value : value.join(', ')
      },
      body: this,
      discard: () => this.#cut(failed(new Error('The answer was discarded'), status)),
    })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    // One read of the socket may bring many chunks, which the reader takes together.
    if (this.#go !== null && this.#chunks.length === 1) process.nextTick(this.#wake)
    if (this.#held >= pauseAtBytes) controller.pause()
  }

  /** The end comes after the socket is free, so that the next call can reuse it. */
  onResponseEnd(): void {
    queueMicrotask(this.#rest)
  }

  onResponseError(_: unknown, error: Error): void {
    this.#close({ fault: failed(error, this.#status) })
  }

  ready(): Uint8Array | null {
    const chunk = this.#chunks.shift()
    if (chunk === undefined) return null
    this.#held -= chunk.length
    if (this.#held === 0) this.#controller?.resume()
    return chunk
  }

  ended(): End | null {
    return this.#end
  }

  wait(go: () => void): void {
    if (this.#chunks.length > 0 || this.#end !== null) go()
    else this.#go = go
  }

  leave(): void {
    this.#cut(failed(new Error('The answer was left early'), this.#status))
  }

  readonly #wake = (): void => {
    const go = this.#go
    this.#go = null
    go?.()
  }

  readonly #impatient = (): void => {
    this.#cut(failed(Object.assign(new Error('No answer in time'), { code: 'ETIMEDOUT' }), null))
  }

  readonly #rest = (): void => {
    setImmediate(this.#done)
  }

  readonly #done = (): void => this.#close(cleanEnd)

  /** Closes the socket. Earlier chunks are dropped. */
  #cut(fault: unknown): void {
    this.#chunks = []
    this.#held = 0
    if (this.#end !== null) return
    const controller = this.#controller
    this.#close({ fault })
    controller?.abort(fault as Error)
  }

  #close(end: End): void {
    if (this.#end !== null) return
    this.#end = end
    clearTimeout(this.#patience)
    this.#signal.removeEventListener('abort', this)
    const head = this.#head
    // An object that outlives the call may refer to this one; its memory must still be freed.
    this.#head = this.#controller = null
    if (end.fault !== null) head?.reject(end.fault)
    this.#wake()
  }
}

/** Hands on what comes for a call, unpacked where it comes packed. Most functions are the call's own: a stream has hundreds of parts. */
class Line implements AnswerReader {
  readonly #call: AnswerReader
  onRequestStart: AnswerReader['onRequestStart']
  onResponseData: AnswerReader['onResponseData']
  onResponseEnd: AnswerReader['onResponseEnd']
  onResponseError: AnswerReader['onResponseError']

  constructor(call: AnswerReader) {
    this.#call = call
    this.onRequestStart = call.onRequestStart.bind(call)
    this.onResponseData = call.onResponseData.bind(call)
    this.onResponseEnd = call.onResponseEnd.bind(call)
    this.onResponseError = call.onResponseError.bind(call)
  }

  onResponseStart(line: AnswerLine, status: number, headers: AnswerHeaders): void {
    const unpacker = unpackers.get(String(headers['content-encoding']).toLowerCase())
    if (unpacker === undefined || status < 200) return this.#call.onResponseStart(line, status, headers)
    const reader = unpacking(this.#call, unpacker(), line)
    this.onResponseData = reader.onResponseData
    this.onResponseEnd = reader.onResponseEnd
    this.onResponseError = reader.onResponseError
    reader.onResponseStart(line, status, headers)
  }
}

/** By the coding of an answer. Some servers pack an answer although no request wants that. */
const unpackers = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** A reader of packed bytes, who hands them on as they were before. */
const unpacking = (
  reader: AnswerReader,
  unpacker: ReturnType<typeof createGunzip>,
  packed: AnswerLine,
): AnswerReader => {
  const line: AnswerLine = {
    abort(reason) {
      unpacker.destroy()
      packed.abort(reason)
    },
    pause: () => unpacker.pause(),
    resume: () => unpacker.resume(),
  }
  reader.onRequestStart(line)
  unpacker
    .on('data', (part: Uint8Array) => reader.onResponseData(line, part))
    .on('drain', () => packed.resume())
    .on('end', () => reader.onResponseEnd(line))
    .on('error', (fault) => {
      packed.abort(fault)
      reader.onResponseError(line, fault)
    })
  return {
    onRequestStart: () => undefined,
    onResponseStart: (_, status, headers) => reader.onResponseStart(line, status, headers),
    onResponseData(_, part) {
      if (!unpacker.write(part)) packed.pause()
    },
    onResponseEnd: () => void unpacker.end(),
    onResponseError(_, fault) {
      unpacker.destroy()
      reader.onResponseError(line, fault)
    },
  }
}

/** A door, and the two ways to close it. */
export interface UpstreamLine {
  readonly door: Door
  /** Takes no new calls, and resolves after the running ones. */
  retire(): Promise<void>
  /** Ends all calls at once. */
  close(): Promise<void>
}

/** A line that hands bytes on by events too. */
export interface PushingLine extends UpstreamLine {
  readonly push: Push
}

/** In ms until a connection stands. */
const dialTimeout = 5_000

/** The public key of a TLS connection; null for any other connection. */
export const keyOf = (socket: Socket | TLSSocket): Uint8Array | null => {
  const certificate = 'getPeerX509Certificate' in socket ? socket.getPeerX509Certificate() : undefined
  return certificate ? new Uint8Array(certificate.publicKey.export({ type: 'spki', format: 'der' })) : null
}

/** Each connection makes a whole handshake, in which the peer proves its key; none resumes an earlier session. */
export const dialer = (build: typeof buildConnector, anyCertificate: boolean): buildConnector.connector =>
  build({
    timeout: dialTimeout,
    rejectUnauthorized: !anyCertificate,
    minVersion: 'TLSv1.3',
    maxCachedSessions: 0,
  })

/** Connections are kept and shared. The caller watches for a silent backend. */
export const openUpstream = (): PushingLine => {
  // The explicit option overrides any environment variable that disables verification.
  const plainConnect = { timeout: dialTimeout, rejectUnauthorized: true }
  let agent: Agent | null = null
  let closed = false
  // The library is loaded with the first call, so that it does not slow the start.
  const opened = async (): Promise<Agent> => {
    const { Agent } = await import('undici')
    agent ??= new Agent({ connections: 4096, connect: plainConnect, headersTimeout: 0, bodyTimeout: 0 })
    if (closed) await agent.destroy()
    return agent
  }
  return {
    door: (url, ask) => (agent === null ? opened().then((opened) => send(opened, url, ask)) : send(agent, url, ask)),
    push(url, headers, body, reader) {
      if (agent === null) return false
      const { origin, path } = place(url)
      agent.dispatch({ origin, path, method: 'POST', headers, body }, new Line(reader) as Dispatcher.DispatchHandler)
      return true
    },
    async retire() {
      closed = true
      await agent?.close()
    },
    async close() {
      closed = true
      await agent?.destroy()
    },
  }
}

/** Codes of a connection that ended without an answer. */
const ended = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const endedEarly = (reason: unknown): boolean =>
  reason instanceof UpstreamFailed &&
  reason.cause instanceof Error &&
  'code' in reason.cause &&
  ended.has(reason.cause.code as string)

/**
 * Rejects with the signal's reason when the signal has fired before, and sends nothing then. A connection that rested
 * may end in the moment in which a call takes it. A request that may be repeated is sent once more then; POST may not be.
 */
export const send = (agent: Pick<Agent, 'dispatch'>, url: string, ask: Ask): Promise<Answer> =>
  ask.method === 'POST' || ask.stream !== undefined
    ? sendOnce(agent, url, ask)
    : sendOnce(agent, url, ask).catch((reason: unknown) => {
        if (!endedEarly(reason)) throw reason
        return sendOnce(agent, url, ask)
      })

const sendOnce = (agent: Pick<Agent, 'dispatch'>, url: string, ask: Ask): Promise<Answer> =>
  new Promise((resolve, reject) => {
    if (ask.signal.aborted) return reject(ask.signal.reason)
    let where: ReturnType<typeof place>
    try {
      where = place(url)
    } catch (cause) {
      return reject(new UpstreamFailed(undefined, { cause }))
    }
    const { origin, path } = where
    const { method, headers = null, stream } = ask
    const body = stream === undefined ? (ask.body ?? null) : Readable.from(stream, { objectMode: false })
    // Written out: an object spread costs undici a tenth of the call.
    const line = new Line(new Exchange(ask, { resolve, reject }))
    agent.dispatch({ origin, path, method, headers, body }, line as Dispatcher.DispatchHandler)
  })
