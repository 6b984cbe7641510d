import { freeTurn } from '../../../../core/dialects/loop-time.ts'
import { Aborted, UpstreamFailed } from '../../../../core/errors.ts'
import type { AnswerHeaders, AnswerLine, AnswerReader, Clock } from '../../../../core/ports/platform.ts'
import type { ChatWire } from '../../../../core/ports/upstream.ts'
import { AnswerParts, partBytes, turnBytes, unmarked } from '../../../shared/backend.ts'
import { mostRefusalBytes, refusalOf } from './parts.ts'

/** The first byte of a byte order mark. */
const firstOfMark = 0xef

/** Where a call is on its way: `elsewhere` is the search for another backend. */
export type State = 'asking' | 'flowing' | 'ending' | 'over' | 'elsewhere'

/** What the client of HTTP tells of a backend's answer, sorted: events of a stream, a whole answer, or a fault. */
export abstract class AnswerListener implements AnswerReader {
  protected line: AnswerLine | null = null
  protected status = 0
  protected state: State = 'asking'
  /** Whether the caller wants a stream. */
  protected streams = false
  readonly #clock: Clock
  readonly #parts = new AnswerParts()
  /** Of the stream, since other streams had their turn. */
  #bytes = 0
  #headers: AnswerHeaders = {}
  /** A backend may answer a request for a stream by a whole answer. */
  #isWhole = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Of the backend that answers. */
  protected abstract get wire(): ChatWire
  /** False where the caller has yet to take the events; then it calls `taken`. */
  protected abstract events(part: Buffer, taken: () => void): false | void
  protected abstract whole(bytes: Buffer): void
  /** The stream has ended without its end mark. */
  protected abstract ended(): void
  protected abstract broke(fault: unknown): void

  /** Whether nothing more is wanted of the backend. */
  protected isEnding(): boolean {
    return this.state !== 'asking' && this.state !== 'flowing'
  }

  onRequestStart(line: AnswerLine): void {
    this.line = line
    if (this.isEnding()) line.abort(new Aborted())
  }

  onResponseStart(_: AnswerLine, status: number, headers: AnswerHeaders): void {
    if (status < 200) return
    this.status = status
    this.#headers = headers
    this.#parts.promised = headers['content-length']
    if (!this.streams || status >= 300) return
    try {
      this.#isWhole = !this.wire.streams(String(headers['content-type'] ?? ''), status)
    } catch (fault) {
      this.broke(fault)
    }
  }

  onResponseData(_: AnswerLine, part: Uint8Array): void {
    if (this.isEnding()) return
    const isRefused = this.status >= 300
    if (this.streams && !this.#isWhole && !isRefused) return this.#flows(part as Buffer)
    const fault = this.#parts.add(part, this.status)
    if (isRefused && this.#parts.size > mostRefusalBytes) this.broke(this.#refusal())
    else if (fault !== null) this.broke(fault)
  }

  /** Nothing more is read before the caller has taken what came, and other streams have had their turn. */
  #flows(part: Buffer): void {
    this.#bytes += part.length + partBytes
    const endsTurn = this.#bytes >= turnBytes
    if (endsTurn) this.#bytes = 0
    const goesOn = endsTurn ? this.#goesOnInTurn : this.#goesOn
    const isTaken = this.events(part, goesOn) !== false
    if (isTaken && !endsTurn) return
    this.line?.pause()
    if (isTaken) goesOn()
  }

  readonly #goesOn = (): void => this.line?.resume()
  readonly #goesOnInTurn = (): void => void freeTurn().then(this.#goesOn)

  onResponseEnd(): void {
    this.line = null
    if (this.isEnding()) return
    if (this.status >= 300) this.broke(this.#refusal())
    else if (this.streams && !this.#isWhole) this.ended()
    else {
      const whole = this.#parts.take()
      this.whole(whole[0] === firstOfMark ? unmarked(whole) : whole)
    }
  }

  onResponseError(_: AnswerLine, cause: Error): void {
    this.line = null
    if (this.isEnding()) return
    if (this.status >= 300) return this.broke(this.#refusal())
    this.broke(new UpstreamFailed(undefined, { again: true, cause, answered: this.status || null }))
  }

  #refusal(): unknown {
    const refusal = refusalOf(this.status, this.#headers, this.#parts.take(), this.#clock)
    const { wire } = this
    return wire.meant === undefined ? refusal : wire.meant(refusal)
  }
}
