import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { Aborted } from '../errors.ts'
import { returnController, lendController } from '../abort.ts'
import type { Pace } from '../dialects/loop-time.ts'
import type { RequestRecord } from '../ports/observer.ts'
import type { Intake } from './body-intake.ts'
import type { HeldBytes, Request } from './route.ts'

/**
 * What a handler is given. A class, since a literal with a getter would be given a shape of its own on every request, and
 * the signal is made when it is asked for: many handlers never wait, and one costs as much as parsing a small body.
 */
export class RouteRequest implements Request<unknown, unknown, Caller | null> {
  readonly id: string
  readonly record: RequestRecord
  readonly input: unknown
  readonly query: unknown
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller | null
  readonly held: HeldBytes | null
  readonly pace: Pace
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  readonly #intake: Intake | null
  #gone: AbortController | null = null

  constructor(
    record: RequestRecord,
    input: unknown,
    query: unknown,
    params: Readonly<Record<string, string>>,
    caller: Caller | null,
    incoming: IncomingMessage,
    response: ServerResponse,
    intake: Intake | null,
    held: HeldBytes | null,
    pace: Pace,
  ) {
    this.id = record.id
    this.record = record
    this.input = input
    this.query = query
    this.params = params
    this.caller = caller
    this.held = held
    this.pace = pace
    this.#incoming = incoming
    this.#response = response
    this.#intake = intake
  }

  get headers(): IncomingHttpHeaders {
    const { headers, method } = this.#incoming
    if (method === 'HEAD') delete headers.range
    return headers
  }

  get bytes(): AsyncIterable<Uint8Array> {
    return this.#intake?.pieces() ?? nothing
  }

  get signal(): AbortSignal {
    if (this.#gone === null) {
      const gone = (this.#gone = lendController())
      const leave = () => {
        if (this.#response.writableFinished) returnController(gone)
        else gone.abort(new Aborted())
      }
      if (this.#response.destroyed) leave()
      else this.#response.once('close', leave)
    }
    return this.#gone.signal
  }
}

const nothing: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }
