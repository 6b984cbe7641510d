import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { Aborted, BadRequest, Expired, GatewayError, NotFound, TooLarge, TooMany, Unavailable } from '../../core/errors.ts'
import type { Enclave, SealedReply, Shelf, Trailer } from '../../core/ports/enclave.ts'
import { type Aside, type Question, answerAside, give } from './shelf-line.ts'

export interface Tls {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

/** As the line says it: frames come when the word is given under `begin`, and under `end` they stop before their time. */
type Frames = { readonly kind: 'frames'; readonly begin: string; readonly end: string }
type Reply = Extract<SealedReply, { kind: 'body' }> | Frames

/** Ms in which a stream that was stopped has to tell what it used. */
const patience = 5_000

/** Ms that an idle connection is kept; the other side keeps it longer. */
const idle = { keepAlive: true, timeout: 60_000 } as const

const errors: Readonly<
  Record<string, new (message: string, facts: { validator: Record<string, string> | null }) => Error>
> = {
  BadRequest,
  Expired,
  NotFound,
  TooLarge,
  TooMany,
}

/** The gateway's end of the line to one confidential process: a unix socket, or TCP with both sides proven. */
export const enclaveLine = (at: string, tls: Tls | null): Enclave => {
  const unix = at.startsWith('/')
  const agent = unix ? new Agent(idle) : new TlsAgent({ ...idle, ...tls })
  const where: RequestOptions = unix
    ? { socketPath: at }
    : { host: at.replace(/:\d+$/, ''), port: Number(at.replace(/^.*:/, '')) }
  const send = unix ? request : tlsRequest

  const ask = (
    method: string,
    path: string,
    body: string | AsyncIterable<Uint8Array> | null,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = send({ ...where, agent, method, path: `/${path}`, headers, signal }, resolve)
      asked.once('error', (cause) =>
        reject(signal.aborted ? signal.reason : new Unavailable(undefined, { cause })),
      )
      if (body === null || typeof body === 'string') asked.end(body ?? undefined)
      else pipeline(body, asked).catch(reject)
    })

  const lines = async (answer: IncomingMessage): Promise<AsyncIterator<string>> => {
    const read = linesOf(answer)
    if (answer.statusCode === 200) return read
    const said = JSON.parse(String((await read.next()).value)) as {
      name: string
      message: string
      validator: Record<string, string> | null
    }
    const known = errors[said.name]
    throw known === undefined ? new Unavailable() : new known(said.message, { validator: said.validator })
  }

  const one = async <T>(method: string, path: string, signal = AbortSignal.timeout(10_000)): Promise<T> => {
    const read = await lines(await ask(method, path, null, signal))
    const said = JSON.parse(String((await read.next()).value)) as T
    await read.next()
    return said
  }

  const aside: Aside = (method, path, body, signal) => ask(method, path, body, signal)

  /** The answer itself; what is asked back before it is seen to meanwhile. */
  const first = async (read: AsyncIterator<string>, shelf: Shelf | undefined, signal: AbortSignal): Promise<Reply> => {
    for (;;) {
      const { done, value } = await read.next()
      if (done) throw new Unavailable()
      const said = JSON.parse(value) as Reply | { readonly ask: Question }
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
    async handle(route, sealed, grant, signal, shelf) {
      const body = Symbol.asyncIterator in sealed ? (sealed as AsyncIterable<Uint8Array>) : JSON.stringify(sealed)
      const large = typeof body !== 'string' && { large: 'yes' }
      const headers = { grant: encodeURIComponent(JSON.stringify(grant)), ...large }
      const line = new AbortController()
      const cut = () => line.abort(signal.reason)
      if (signal.aborted) cut()
      signal.addEventListener('abort', cut, { once: true })
      const heard = async () => {
        const read = await lines(await ask('POST', `handle/${route}`, body, line.signal, headers))
        return { read, reply: await first(read, shelf, signal) }
      }
      // A signal may outlive the call: nothing stays behind on it.
      const uncut = () => signal.removeEventListener('abort', cut)
      const { read, reply } = await heard().catch((error: unknown) => {
        uncut()
        throw error
      })
      if (reply.kind === 'body') {
        uncut()
        await read.next()
        return reply
      }
      const begin = () => {
        uncut()
        return give(reply.begin, aside, signal)
      }
      const end = () => {
        const late = AbortSignal.timeout(patience)
        late.addEventListener('abort', () => line.abort())
        give(reply.end, aside, late).catch(() => line.abort())
      }
      return framesOf(read, begin, end, signal)
    },
    dispose: () => agent.destroy(),
  }
}

/** Lines as they come; leaving before the end closes the socket, reading to the end keeps it. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  answer.setEncoding('utf8')
  let held = ''
  for await (const part of answer as AsyncIterable<string>) {
    const lines = (held + part).split('\n')
    held = lines.pop()!
    yield* lines
  }
}

/** Frames from when they are wanted until the trailer, which is heard even where nobody wants the rest. */
const framesOf = (
  read: AsyncIterator<string>,
  begin: () => Promise<void>,
  end: () => void,
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
    await read.next()
    return null
  }
  const rest = async () => {
    try {
      while ((await next()) !== null) continue
    } catch {
      tell(lost)
    }
  }

  async function* frames() {
    let over = false
    let ending = false
    const stop = () => {
      if (!ending) end()
      ending = true
    }
    try {
      signal.addEventListener('abort', stop, { once: true })
      await begin()
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
        stop()
        void rest()
      }
    }
  }
  return { kind: 'frames', frames: frames(), trailer }
}
