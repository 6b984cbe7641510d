import { setTimeout as sleep } from 'node:timers/promises'
import { print } from '../../../../core/dialects/json.ts'
import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { type SseEvent, sseEvents } from '../../../shared/sse.ts'
import type { Answer, Door } from '../../../../core/ports/platform.ts'
import { latestRevision } from '../../../shared/dialects/mcp/protocol.ts'
import { rpcErrorCodes } from '../../../shared/dialects/mcp/rpc.ts'
import { boundedBody } from '../../../shared/bounded-body.ts'
import {
  type Line,
  type RepeatedHeaders,
  type ServerMessage,
  SessionOver,
  answerTo,
  messageIn,
  mostMessage,
  resultIn,
} from './line.ts'

/** Ms for the farewell to a session. */
const farewellMs = 2_000
/** A name that a header can tell. */
const soundName = /^[\x21-\x7e]{1,256}$/
/** Ms before the request for the rest of a stream, where its server names none; the least and the most. */
const pause = { usual: 1_000, least: 100, most: 60_000 }
/** Tries in a row to find a stream again: its server may be starting anew. */
const mostTries = 5
/** Events of one answer beside the answer itself. */
const mostEvents = 1_000

/** The bytes of a stream, up to a bound. */
async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > 2 * mostMessage) throw new UpstreamFailed('The answer is too large')
    yield part
  }
}

/** A message of the gateway. */
interface Sent {
  readonly jsonrpc?: string
  readonly id?: unknown
  readonly method?: string
  readonly params?: object
}

/** The latest revision repeats the method and the name of the tool in headers. */
const repeatedHeaders = ({ method, params }: Sent): Readonly<Record<string, string>> => ({
  ...(method !== undefined && { 'mcp-method': method }),
  ...(method === 'tools/call' && { 'mcp-name': (params as { readonly name: string }).name }),
})

/**
 * A server that was replaced speaks another revision, or wants a session. Servers built after the examples of the official
 * SDK refuse an unknown session by a 400 that names no call.
 */
const namesNoCall = (answer: Answer, { id, error }: ServerMessage): boolean =>
  answer.status === 400 &&
  (error?.code === rpcErrorCodes.version || (id == null && error?.code === rpcErrorCodes.refused))

/** Throws RpcError where the refusal is an error of the protocol, and SessionOver where what was agreed is unknown. */
const refuse = async (answer: Answer, isAgreed: boolean): Promise<never> => {
  const failed = new UpstreamFailed('The tool’s server refuses the gateway', { answered: answer.status })
  if (answer.header('content-type')?.startsWith('application/json') !== true) {
    answer.discard()
    throw failed
  }
  const message = await messageIn(await boundedBody(answer, mostMessage))
  if (isAgreed && namesNoCall(answer, message)) throw new SessionOver()
  if (isJsonObject(message.error)) resultIn(message)
  throw failed
}

const isStream = (answer: Answer): boolean => answer.header('content-type')?.startsWith('text/event-stream') === true

/** Whether another try may succeed. */
const passes = (error: unknown): boolean => error instanceof UpstreamFailed && error.again

const ended = () => new UpstreamFailed('The tool’s server ends without an answer', { again: true })

/** Requests to one server, with what the handshake tells. */
const requestsTo = (url: string, headers: Readonly<Record<string, string>>, door: Door) => {
  let session: string | null = null
  let version: string | null = null
  const told = (): Readonly<Record<string, string>> => ({
    ...headers,
    ...(version !== null && { 'mcp-protocol-version': version }),
    ...(session !== null && { 'mcp-session-id': session }),
  })
  return {
    async post(message: Sent, signal: AbortSignal, params: RepeatedHeaders = {}): Promise<Answer> {
      const asks = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
      const repeated = version === latestRevision ? { ...params, ...repeatedHeaders(message) } : {}
      const sent = { ...told(), ...repeated, ...asks }
      const answer = await door(url, { method: 'POST', headers: sent, body: print(message), signal })
      if (answer.status >= 200 && answer.status < 300) return answer
      if (answer.status === 404 && version !== null) {
        answer.discard()
        throw new SessionOver()
      }
      return refuse(answer, version !== null)
    },
    /** The stream of a call behind an event. */
    async resumed({ id = '', retry = pause.usual }: SseEvent, signal: AbortSignal): Promise<Answer> {
      const wait = Math.min(pause.most, Math.max(pause.least, retry))
      const headers = { ...told(), accept: 'text/event-stream', 'last-event-id': id }
      for (let tries = 1; ; tries++) {
        await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted())
        const answer = await door(url, { method: 'GET', headers, signal }).catch((error: unknown) => {
          if (tries < mostTries && passes(error)) return null
          throw error
        })
        if (answer?.status === 200 && isStream(answer)) return answer
        answer?.discard()
        // What the server refuses now, it refuses again.
        if (answer !== null && (answer.status < 500 || tries === mostTries)) throw ended()
      }
    },
    opens(answer: Answer): void {
      const name = answer.header('mcp-session-id')
      if (name === null) return
      if (!soundName.test(name)) throw new UpstreamFailed('The tool’s server names no sound session')
      session = name
    },
    agreed: (revision: string) => void (version = revision),
    isOwn: () => session !== null,
    close() {
      if (session === null) return
      const leaving = door(url, { method: 'DELETE', headers: told(), signal: AbortSignal.timeout(farewellMs) })
      // A server that is gone has no session to end.
      leaving.then((answer) => answer.discard()).catch(() => {})
    },
  }
}

/** The events of an answer. A stream that ends or breaks goes on behind its last event, where its server names events. */
async function* eventsOf(first: Answer, resumed: (last: SseEvent) => Promise<Answer>): AsyncGenerator<string> {
  let last: SseEvent = { event: null, data: '' }
  for (let answer = first; ; answer = await resumed(last)) {
    try {
      for await (const event of sseEvents(bounded(answer.body))) {
        if (event.id !== undefined && soundName.test(event.id)) last = { ...event, retry: event.retry ?? last.retry }
        yield event.data
      }
    } catch (error) {
      if (last.id === undefined || !passes(error)) throw error
    }
    if (last.id === undefined) return
  }
}

/** A server by streamable HTTP: each message is a request, and its answer is one JSON or a stream of events. */
export const httpLine = (url: string, headers: Readonly<Record<string, string>>, door: Door): Line => {
  const { post, resumed, opens, agreed, isOwn, close } = requestsTo(url, headers, door)
  let calls = 0
  const notify = async (message: Sent, signal: AbortSignal): Promise<void> => (await post(message, signal)).discard()

  /** The answer to a call in a stream, whatever else the server tells before. */
  const streamed = async (answer: Answer, id: number, signal: AbortSignal): Promise<ServerMessage> => {
    let events = 0
    for await (const data of eventsOf(answer, (last) => resumed(last, signal))) {
      if (++events > mostEvents) break
      if (data === '') continue
      const message = await messageIn(Buffer.from(data))
      if (message.id === id && message.method === undefined) return message
      const reply = answerTo(message)
      if (reply !== null) await notify(reply, signal)
    }
    throw ended()
  }

  const answered = async (sent: Sent & { readonly id: number }, signal: AbortSignal, repeated?: RepeatedHeaders) => {
    const { id } = sent
    const answer = await post(sent, signal, repeated)
    if (sent.method === 'initialize') opens(answer)
    const message = isStream(answer)
      ? await streamed(answer, id, signal)
      : await messageIn(await boundedBody(answer, mostMessage))
    if (message.id !== id) throw new UpstreamFailed('The tool’s server answers another call')
    return resultIn(message)
  }

  /** A closed connection cancels nothing, so the server hears that nobody waits. */
  const leave = (id: number): void => {
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
    notify(message, AbortSignal.timeout(farewellMs)).catch(() => {})
  }

  return {
    async call(method, params, signal, repeated) {
      const id = ++calls
      try {
        return await answered({ jsonrpc: '2.0', id, method, params }, signal, repeated)
      } catch (error) {
        if (signal.aborted && method !== 'initialize') leave(id)
        throw error
      }
    },
    notify: (method, params, signal) => notify({ jsonrpc: '2.0', method, params }, signal),
    ...{ agreed, isOwn, close },
  }
}
