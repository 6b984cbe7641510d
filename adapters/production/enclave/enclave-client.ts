import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
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
import type { Enclave, SealedReply, Shelf, Trailer } from '../../../core/ports/enclave.ts'
import { linesOf } from './read-lines.ts'
import { type Aside, type Question, answerAside } from './file-rpc.ts'

export interface Tls {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

/** What a refusal on the line says beside its words. */
interface Told {
  readonly validator: Record<string, string> | null
  /** Ms. */
  readonly retryAfter: number | null
}

type First = Extract<SealedReply, { kind: 'body' }> | { readonly kind: 'frames' }

/** Ms in which a stream that was stopped has to tell what it used. */
const patience = 5_000

/** Ms that an idle connection is kept; the other side keeps it longer. */
const idle = { keepAlive: true, timeout: 60_000 } as const

const errors: Readonly<Record<string, new (message: string, facts: Told) => Error>> = {
  BadRequest,
  Expired,
  NotFound,
  TooLarge,
  TooMany,
}

/** The gateway's end of the line to one confidential process: a unix socket, or TCP with both sides proven. */
export const enclaveLine = (at: string, tls: Tls | null): Enclave => {
  const unix = at.startsWith('/')
  // The option stands here so that no variable of the environment switches verification off.
  const agent = unix ? new Agent(idle) : new TlsAgent({ ...idle, ...tls, rejectUnauthorized: true })
  const where: RequestOptions = unix
    ? { socketPath: at }
    : { host: at.replace(/:\d+$/, ''), port: Number(at.replace(/^.*:/, '')) }
  const send = unix ? request : tlsRequest

  const open = (method: string, path: string, options: RequestOptions) => {
    const asked = send({ ...where, agent, method, path: `/${path}`, ...options })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve)
      asked.on('error', (cause) => reject(new Unavailable(undefined, { cause })))
    })
    return { asked, answered }
  }

  const aside: Aside = (method, path, body, signal) => {
    const { asked, answered } = open(method, path, { signal })
    if (body === null) asked.end()
    // What breaks it breaks the answer too.
    else pipeline(body, asked).catch(() => asked.destroy())
    return answered.catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error
    })
  }

  const lines = async (answer: IncomingMessage): Promise<AsyncIterator<string>> => {
    const read = linesOf(answer)
    if (answer.statusCode === 200) return read
    const { name, message, validator, retryAfter } = JSON.parse(String((await read.next()).value)) as Told & {
      readonly name: string
      readonly message: string
    }
    await read.next()
    const known = errors[name]
    throw known === undefined ? new Unavailable() : new known(message, { validator, retryAfter })
  }

  const one = async <T>(method: 'GET' | 'POST', path: string, signal = AbortSignal.timeout(10_000)): Promise<T> => {
    const read = await lines(await aside(method, path, null, signal))
    const said = JSON.parse(String((await read.next()).value)) as T
    await read.next()
    return said
  }

  /** The answer itself; questions before it are answered meanwhile. */
  const first = async (read: AsyncIterator<string>, shelf: Shelf | undefined, signal: AbortSignal): Promise<First> => {
    for (;;) {
      const { done, value } = await read.next()
      if (done) throw new Unavailable()
      const said = JSON.parse(value) as First | { readonly ask: Question }
      if (!('ask' in said)) return said
      if (shelf === undefined) throw new Unavailable()
      // What goes wrong on this side ends the call on the other, whose answer is awaited here.
      answerAside(said.ask, shelf, aside, signal).catch(() => undefined)
    }
  }

  return {
    keys: () => one('GET', 'keys'),
    attest: (challenge) => one('GET', `attest?challenge=${Buffer.from(challenge).toString('hex')}`),
    models: (signal) => one('GET', 'models', signal),
    signHead: (wanted) => one('POST', `head?wanted=${encodeURIComponent(JSON.stringify(wanted))}`),
    async handle(route, sealed, grant, signal, shelf) {
      const bytes = sealed instanceof Uint8Array ? sealed : null
      const streamed = bytes === null && Symbol.asyncIterator in sealed
      const large = bytes === null ? (streamed ? 'yes' : null) : String(bytes.length)
      const headers = { grant: encodeURIComponent(JSON.stringify(grant)), ...(large !== null && { large }) }
      signal.throwIfAborted()
      const { asked, answered } = open('POST', `handle/${route}`, { headers })
      const cut = () => void asked.destroy()
      // A signal may outlive the call: nothing stays behind on it.
      const uncut = () => {
        signal.removeEventListener('abort', cut)
        over.abort(new Unavailable())
      }
      // What is asked back goes on for no longer than the call.
      const over = new AbortController()
      signal.addEventListener('abort', cut, { once: true })
      if (streamed) pipeline(sealed as AsyncIterable<Uint8Array>, asked).catch(() => asked.destroy())
      else if (bytes !== null) asked.write(bytes)
      else asked.write(`${JSON.stringify(sealed)}\n`)
      try {
        const read = await lines(await answered)
        const reply = await first(read, shelf, AbortSignal.any([signal, over.signal]))
        // One that nobody begins to read is cut by its signal.
        if (reply.kind === 'frames') return framesOf(read, asked, uncut, signal)
        uncut()
        asked.end()
        await read.next()
        return reply
      } catch (error) {
        uncut()
        asked.end()
        throw signal.aborted ? signal.reason : error
      }
    },
    dispose: () => agent.destroy(),
  }
}

/**
 * Our half of the line stays open while frames are wanted: a word on it lets them begin, and its end stops them. The
 * trailer is heard in any case.
 */
const framesOf = (
  read: AsyncIterator<string>,
  asked: ClientRequest,
  begun: () => void,
  signal: AbortSignal,
): SealedReply => {
  let tell: (trailer: Trailer) => void = () => {}
  const trailer = new Promise<Trailer>((resolve) => (tell = resolve))
  const lost: Trailer = { model: null, backend: null, usage: null, audioSeconds: null }

  /** Null when there are no more; a line that breaks off before the trailer is a fault. */
  const next = async (): Promise<string | null> => {
    const { done, value } = await read.next()
    if (done) throw new Unavailable()
    if (!value.startsWith('{')) return value
    tell((JSON.parse(value) as { trailer: Trailer }).trailer)
    asked.end()
    await read.next()
    return null
  }
  const rest = async () => {
    const late = setTimeout(() => asked.destroy(), patience)
    try {
      while ((await next()) !== null) continue
    } catch {
      tell(lost)
    } finally {
      clearTimeout(late)
    }
  }

  async function* frames() {
    let over = false
    let late: NodeJS.Timeout | null = null
    // One that is silent does not answer this either.
    const stop = () => {
      asked.end()
      late ??= setTimeout(() => asked.destroy(), patience)
    }
    try {
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) throw new Aborted()
      begun()
      asked.write('begin\n')
      for (;;) {
        const frame = await next()
        over = frame === null
        if (signal.aborted) throw new Aborted()
        if (frame === null) return
        yield frame
      }
    } catch (fault) {
      // Why it was ended says more than that it did.
      throw signal.aborted && signal.reason instanceof GatewayError ? signal.reason : fault
    } finally {
      signal.removeEventListener('abort', stop)
      if (!over) {
        asked.end()
        void rest()
      }
      if (late !== null) clearTimeout(late)
    }
  }
  return { kind: 'frames', frames: frames(), trailer }
}
