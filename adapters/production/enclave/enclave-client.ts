import { X509Certificate } from 'node:crypto'
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIPv6 } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { checkServerIdentity } from 'node:tls'
import {
  Aborted,
  BadRequest,
  Expired,
  GatewayError,
  NotFound,
  TooLarge,
  TooMany,
  Unavailable,
} from '../../../core/errors.ts'
import { type End, Flow } from '../../../core/ports/flow.ts'
import type { Enclave, SealedReply, EnclaveFiles, Trailer } from '../../../core/ports/enclave.ts'
import type { LogSigner } from '../../../plugins/sealed/log-signer.ts'
import type { Certificates } from './certificates.ts'
import { linesOf } from './read-lines.ts'
import { leaving } from './enclave-health.ts'
import { lazy } from '../../../core/plugin.ts'
import type { SendAside, EnclaveQuestion } from './file-rpc.ts'

const answering = lazy(() => import('./file-rpc.ts'))

/** The facts of a refusal beside its message. */
interface RefusalFacts {
  readonly validator: Record<string, string> | null
  /** In ms. */
  readonly retryAfter: number | null
}

/** The first line of an answer that is no question: a whole body, or the sign that frames follow. */
type First = (Extract<SealedReply, { kind: 'body' }> & { readonly long?: Long }) | { readonly kind: 'frames' }

/** A member of a body whose bytes stand on the lines behind it. */
interface Long {
  readonly name: string
  readonly length: number
}

/** In ms: the time for a stopped stream to report its usage. */
const usageMs = 5_000

/** In ms: an idle connection lives this long. The enclave keeps it open longer. */
const idle = { keepAlive: true, timeout: 60_000 } as const

/** Refusals that may reach a caller by their own name; every other name becomes Unavailable. */
const errors: Readonly<Record<string, new (message: string, facts: RefusalFacts) => Error>> = {
  BadRequest,
  Expired,
  NotFound,
  TooLarge,
  TooMany,
}

/** How requests reach the enclave process. */
interface Line {
  open(
    method: string,
    path: string,
    options: RequestOptions,
  ): { readonly request: ClientRequest; readonly answered: Promise<IncomingMessage> }
  /** A request beside the sealed ones. */
  readonly aside: SendAside
  close(): void
}

/** The check of Node 22.23 finds no address of IPv6 in a certificate. */
const checkHost: typeof checkServerIdentity = (host, certificate) => {
  if (!isIPv6(host)) return checkServerIdentity(host, certificate)
  const isMeant = new X509Certificate(certificate.raw).checkIP(host) !== undefined
  return isMeant ? undefined : new Error(`The certificate is not for ${host}`)
}

const lineTo = (at: string, tls: Certificates | null): Line => {
  const unix = at.startsWith('/')
  // The explicit option overrides any environment variable that disables verification.
  const agent = unix
    ? new Agent(idle)
    : new TlsAgent({ ...idle, ...tls?.first, rejectUnauthorized: true, checkServerIdentity: checkHost })
  // Standing connections go on, and new ones have the renewed certificates.
  const unwatch = tls?.watch((renewed) => Object.assign((agent as TlsAgent).options, renewed))
  const where: RequestOptions = unix
    ? { socketPath: at }
    : { host: at.replace(/^\[|\]?:\d+$/g, ''), port: Number(at.replace(/^.*:/, '')) }
  const send = unix ? request : tlsRequest

  const open: Line['open'] = (method, path, options) => {
    const request = send({ ...where, agent, method, path: `/${path}`, ...options })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve)
      request.on('error', (cause) => reject(new Unavailable(undefined, { cause })))
    })
    return { request, answered }
  }

  const aside: SendAside = (method, path, body, signal) => {
    const { request, answered } = open(method, path, { signal })
    if (body === null) request.end()
    // An error on the request also ends the answer.
    else pipeline(body, request).catch(() => request.destroy())
    return answered.catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error
    })
  }
  const close = (): void => {
    unwatch?.()
    agent.destroy()
  }
  return { open, aside, close }
}

/** The lines of an answer. Throws the enclave's refusal. */
const linesIn = async (answer: IncomingMessage): Promise<Flow<string>> => {
  const read = linesOf(answer)
  if (answer.statusCode === 200) return read
  const { name, message, validator, retryAfter } = JSON.parse(String((await read.next()).value)) as RefusalFacts & {
    readonly name: string
    readonly message: string
  }
  await read.next()
  const known = errors[name]
  if (known !== undefined) throw new known(message, { validator, retryAfter })
  throw new Unavailable(undefined, name === leaving ? { cause: { code: leaving } } : {})
}

/** Waits for the answer and serves the enclave's questions before it. */
const firstIn = async (
  read: AsyncIterator<string>,
  aside: SendAside,
  enclaveFiles: EnclaveFiles | undefined,
  untilOver: () => AbortSignal,
): Promise<First> => {
  for (;;) {
    const { done, value } = await read.next()
    if (done) throw new Unavailable()
    const first = JSON.parse(value) as First | { readonly ask: EnclaveQuestion }
    if (!('ask' in first)) return first
    if (enclaveFiles === undefined) throw new Unavailable()
    const ends = untilOver()
    // A failure on this side ends the call in the enclave, and its answer reports the failure here.
    answering()
      .then(({ answerQuestion }) => answerQuestion(first.ask, enclaveFiles, aside, ends))
      .catch(() => undefined)
  }
}

/** In bytes: vectors that a backend wrote in 64 MiB of base64 are several times as long as numbers. */
const mostLong = 512 * 1024 * 1024

/** The bytes of a long member, from one line after the other. */
const bytesIn = async (lines: AsyncIterator<string>, length: number): Promise<Buffer> => {
  if (!(length <= mostLong)) throw new Unavailable()
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length;) {
    const { done, value = '' } = (await lines.next()) as IteratorResult<string, undefined>
    const read = bytes.write(value, at, 'base64')
    if (done === true || read === 0) throw new Unavailable()
    at += read
  }
  return bytes
}

type Handle = Enclave['handle']

/** In bytes, or `yes` when they are unknown; null when the sealed body is fields. */
const lengthOf = (sealed: Parameters<Handle>[1]): string | null => {
  if (sealed instanceof Uint8Array) return String(sealed.length)
  return Symbol.asyncIterator in sealed ? 'yes' : null
}

/** Bytes and fields leave the request open, since the gateway speaks on it later; a stream ends it. */
const sendBody = (sealed: Parameters<Handle>[1], request: ClientRequest): void => {
  if (sealed instanceof Uint8Array) request.write(sealed)
  else if (Symbol.asyncIterator in sealed)
    pipeline(sealed as AsyncIterable<Uint8Array>, request).catch(() => request.destroy())
  else request.write(`${JSON.stringify(sealed)}\n`)
}

/** Rejects with the signal's reason once the caller has left, whatever broke on the line because of that. */
const handleOver =
  ({ open, aside }: Line): Handle =>
  async (route, sealed, grant, signal, enclaveFiles) => {
    const large = lengthOf(sealed)
    const headers = {
      ...{ grant: encodeURIComponent(JSON.stringify(grant)), long: 'lines' },
      ...(large !== null && { large }),
    }
    signal.throwIfAborted()
    const { request, answered } = open('POST', `handle/${route}`, { headers })
    const cut = () => void request.destroy()
    // Answers to the enclave's questions end with the call; most calls have none.
    let over: AbortController | null = null
    const untilOver = () => AbortSignal.any([signal, (over ??= new AbortController()).signal])
    // A signal may outlive the call, so its listeners are removed.
    const uncut = () => {
      signal.removeEventListener('abort', cut)
      over?.abort(new Unavailable())
    }
    signal.addEventListener('abort', cut, { once: true })
    sendBody(sealed, request)
    try {
      const read = await linesIn(await answered)
      const reply = await firstIn(read, aside, enclaveFiles, untilOver)
      // An unread stream is ended by its signal.
      if (reply.kind === 'frames') {
        const frames = new LineFrames(read, request, uncut, signal)
        return { kind: 'frames', frames, trailer: frames.trailer }
      }
      const { long, ...body } = reply
      const whole = long && { [long.name]: await bytesIn(read, long.length) }
      uncut()
      request.end()
      await read.next()
      return whole === undefined ? body : { ...body, body: { ...body.body, ...whole } }
    } catch (error) {
      uncut()
      request.end()
      throw signal.aborted ? signal.reason : error
    }
  }

/** The gateway's end of the line to one enclave process: a unix socket, or TCP with mutual TLS. */
export const enclaveClient = (at: string, tls: Certificates | null): Enclave & LogSigner => {
  const line = lineTo(at, tls)
  const one = async <T>(method: 'GET' | 'POST', path: string, signal = AbortSignal.timeout(10_000)): Promise<T> => {
    const read = await linesIn(await line.aside(method, path, null, signal))
    const reply = JSON.parse(String((await read.next()).value)) as T
    await read.next()
    return reply
  }
  return {
    keys: () => one('GET', 'keys'),
    attest: (challenge) => one('GET', `attest?challenge=${Buffer.from(challenge).toString('hex')}`),
    models: (signal) => one('GET', 'models', signal),
    signHead: (wanted) => one('POST', `head?wanted=${encodeURIComponent(JSON.stringify(wanted))}`),
    handle: handleOver(line),
    dispose: line.close,
  }
}

/**
 * The frames of one answer. The gateway keeps its half of the line open while it wants frames. One line on it starts the
 * frames, and its end stops them. The trailer is read in any case.
 */
class LineFrames extends Flow<string> {
  readonly trailer: Promise<Trailer>
  readonly #lines: Flow<string>
  readonly #request: ClientRequest
  readonly #begun: () => void
  readonly #signal: AbortSignal
  #tell: (trailer: Trailer) => void = () => {}
  #isBegun = false
  #isTold = false
  #end: End | null = null
  #late: NodeJS.Timeout | null = null

  constructor(lines: Flow<string>, request: ClientRequest, begun: () => void, signal: AbortSignal) {
    super()
    this.trailer = new Promise((resolve) => (this.#tell = resolve))
    this.#lines = lines
    this.#request = request
    this.#begun = begun
    this.#signal = signal
  }

  ready(): string | null {
    const line = this.#end === null ? this.#lines.ready() : null
    if (line === null) return null
    if (line.startsWith('{')) this.#tells(line)
    else if (this.#signal.aborted) this.#ends(new Aborted())
    else return line
    return null
  }

  ended(): End | null {
    // The connection is free for the next call behind the last byte alone.
    const end = this.#end === null ? this.#lines.ended() : null
    if (end !== null) this.#ends(end.fault ?? (this.#isTold ? null : new Unavailable()))
    return this.#end
  }

  wait(go: () => void): void {
    if (!this.#isBegun) this.#begin()
    if (this.#end === null) this.#lines.wait(go)
    else go()
  }

  leave(): void {
    if (this.#end === null) this.#ends(null)
  }

  #begin(): void {
    this.#isBegun = true
    if (this.#signal.aborted) return this.#ends(new Aborted())
    this.#signal.addEventListener('abort', this.#stop, { once: true })
    this.#begun()
    this.#request.write('begin\n')
  }

  /** A silent enclave does not react to the end of the line either. */
  readonly #stop = (): void => {
    this.#request.end()
    this.#late ??= setTimeout(() => this.#request.destroy(), usageMs)
  }

  #tells(line: string): void {
    this.#isTold = true
    this.#tell(trailerIn(line))
    this.#request.end()
  }

  /** The reason of an abort says more than the broken line. */
  #ends(fault: unknown): void {
    const { aborted, reason } = this.#signal as { readonly aborted: boolean; readonly reason: unknown }
    const told = aborted && fault === null ? new Aborted() : fault
    this.#end = { fault: told !== null && aborted && reason instanceof GatewayError ? reason : told }
    this.#signal.removeEventListener('abort', this.#stop)
    if (this.#late !== null) clearTimeout(this.#late)
    if (!this.#isTold) void this.#rest()
  }

  /** Waits for the trailer of an abandoned stream, at most `usageMs` ms. */
  async #rest(): Promise<void> {
    this.#request.end()
    const late = setTimeout(() => this.#request.destroy(), usageMs)
    try {
      for await (const line of this.#lines) if (line.startsWith('{')) this.#tells(line)
    } catch {
      // The trailer of a broken line is lost.
    } finally {
      clearTimeout(late)
      this.#tell(lost)
    }
  }
}

const trailerIn = (line: string): Trailer => {
  try {
    return (JSON.parse(line) as { readonly trailer: Trailer }).trailer
  } catch {
    return lost
  }
}

/** Of a line that broke before its trailer. */
const lost: Trailer = { model: null, backend: null, usage: null, audioSeconds: null }
