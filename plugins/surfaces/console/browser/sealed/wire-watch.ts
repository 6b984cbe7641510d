import type { Gateway } from '../gateway.ts'
import { type SeenBody, nothingSeen, seenBody } from './seen-fields.ts'

/** One request of the client and its answer, as the gateway sees them. */
export interface Exchange {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly sent: SeenBody
  readonly status: number
  readonly answered: SeenBody
  /** The text of the answer; empty for stored bytes. */
  readonly text: string
}

/** Stands between the client and the gateway, and may change what passes. */
export type Between = (path: string, init: RequestInit, send: Send) => Promise<Response>
export type Send = (path: string, init: RequestInit) => Promise<Response>

const bytesOf = async (body: RequestInit['body']): Promise<Uint8Array> =>
  body == null ? new Uint8Array() : new Uint8Array(await new Response(body).arrayBuffer())

const typeOf = (headers: RequestInit['headers']): string => new Headers(headers).get('content-type') ?? ''

const exchangeOf = async (path: string, init: RequestInit, answer: Response, bytes: Uint8Array): Promise<Exchange> => {
  const sent = await bytesOf(init.body)
  const type = answer.headers.get('content-type') ?? ''
  return {
    method: init.method ?? 'GET',
    path,
    sent: sent.length === 0 ? nothingSeen : seenBody(sent, typeOf(init.headers)),
    status: answer.status,
    answered: seenBody(bytes, type),
    text: /json|event-stream/.test(type) ? new TextDecoder().decode(bytes) : '',
  }
}

const passing: Between = (path, init, send) => send(path, init)

/**
 * The `fetch` of a sealed client. It tells of each exchange once its answer ends: before the client reads JSON, and beside
 * a client that reads a stream. An answer that breaks off is not told.
 */
export const watchedFetch = (
  gateway: Gateway,
  tell: (exchange: Exchange) => void = () => undefined,
  between: Between = passing,
): typeof fetch => {
  const send: Send = async (path, init) => {
    const answer = await gateway.raw(path, init)
    const read = async (from: Response): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await from.arrayBuffer())
    if (!(answer.headers.get('content-type') ?? '').includes('json')) {
      const copy = answer.clone()
      void read(copy).then(
        async (bytes) => tell(await exchangeOf(path, init, answer, bytes)),
        () => undefined,
      )
      return answer
    }
    const bytes = await read(answer)
    tell(await exchangeOf(path, init, answer, bytes))
    return new Response(bytes, { status: answer.status, headers: answer.headers })
  }
  return async (input, init = {}) => between(String(input).slice(gateway.base.length), init, send)
}
