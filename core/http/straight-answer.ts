import type { ServerResponse } from 'node:http'
import type { ServerEvent } from '../dialects/event.ts'
import type { GatewayError } from '../errors.ts'
import { handOn } from './backpressure.ts'
import { type Pace, eventHeaders, sendEvents } from './events.ts'
import { type Frames, framesOf } from './frames.ts'
import { knownError } from './http-errors.ts'
import type { StraightAnswer } from './straight-call.ts'

/** Bytes of an answer that go on in one write. */
const mostAtOnce = 16 * 1024
const waiting = ': waiting\n\n'

/** The response of a straight call. A class: each call makes one. */
export class ResponseAnswer implements StraightAnswer {
  readonly headers: Record<string, string | number>
  readonly #response: ServerResponse
  readonly #pace: Pace
  readonly #report: (error: unknown) => void
  #frames: Frames | null = null
  #isWritten = false
  /** When the reader was found to take nothing; 0 while the reader takes what comes. */
  #stalledSince = 0

  constructor(
    response: ServerResponse,
    headers: Record<string, string | number>,
    pace: Pace,
    report: (error: unknown) => void,
  ) {
    this.#response = response
    this.headers = headers
    this.#pace = pace
    this.#report = report
  }

  get isBegun(): boolean {
    return this.#response.headersSent
  }

  get heartbeat(): number {
    return this.#pace.heartbeat
  }

  whole(body: string | Uint8Array): void {
    const response = this.#response
    if (response.destroyed) return
    // A string would be copied once to count its bytes, and once more behind its head.
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    this.headers['content-type'] = 'application/json; charset=utf-8'
    this.headers['content-length'] = bytes.length
    response.writeHead(200, this.headers)
    if (bytes.length <= mostAtOnce) response.end(bytes)
    else void handOn(response, bytes, this.#pace)?.then(() => response.end())
  }

  begin(): void {
    const response = this.#response
    if (response.headersSent) return
    const frames = (this.#frames = framesOf(response, this.#pace.ownChunks))
    response.writeHead(200, { ...this.headers, ...eventHeaders, ...frames.headers })
    frames.begin()
  }

  write(events: string, drained: () => void): boolean {
    const response = this.#response
    if (response.destroyed) return true
    // Past Node's response, which looks at each part again: the frames are complete, and nothing of the response waits.
    const { socket } = response
    const isDirect = this.#isOwn() && this.#isWritten && socket !== null && response.writableLength === 0
    this.#isWritten = true
    const framed = this.#framed(events)
    if (isDirect ? socket.write(framed, 'latin1') : response.write(framed, 'latin1')) return true
    this.#stalledSince = this.#pace.clock.now()
    const to = isDirect ? socket : response
    to.once('drain', () => {
      this.#stalledSince = 0
      drained()
    })
    return false
  }

  waits(): void {
    this.begin()
    const response = this.#response
    if (!response.destroyed && !response.writableNeedDrain) response.write(this.#framed(waiting), 'latin1')
  }

  end(events: string): void {
    const response = this.#response
    if (response.destroyed) return
    this.begin()
    const last = this.#frames?.last ?? ''
    response.end(this.#isOwn() ? this.#framed(events) + last : events, 'latin1')
  }

  isStalled(now: number): boolean {
    const response = this.#response
    if (this.#stalledSince === 0 && response.writableEnded && response.writableLength > 0) this.#stalledSince = now
    if (this.#stalledSince === 0) return false
    if (now - this.#stalledSince > this.#pace.stalled) response.destroy()
    return true
  }

  send(
    events: AsyncIterable<ServerEvent>,
    late: () => Readonly<Record<string, string>>,
    broken: (error: GatewayError) => ServerEvent,
  ): Promise<void> {
    return sendEvents(
      this.#response,
      () => Object.assign(this.headers, eventHeaders, late()),
      events,
      () => ({ comment: 'waiting' }),
      (error) => {
        this.#report(error)
        return broken(knownError(error))
      },
      this.#pace,
    )
  }

  #isOwn(): boolean {
    return this.#frames !== null && this.#frames.last !== null
  }

  /** Strings of Latin-1 have a byte for each character. */
  #framed(events: string): string {
    return this.#isOwn() ? `${events.length.toString(16)}\r\n${events}\r\n` : events
  }
}
