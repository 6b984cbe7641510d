import { type DialectEvent, type EventSink, type EventWriter, printEvent } from '../../../../core/dialects/event.ts'
import type { StreamedSoFar } from '../../../../core/inference/routing/continue-stream.ts'
import type { ChatWire, Chunk, WireEvents, WireUsage } from '../../../../core/ports/upstream.ts'
import { type CallEvents, countChunk } from './call-events.ts'

/** The events of a stream that is read by the backend's dialect and written by the caller's. */
export class DialectEvents implements CallEvents, EventSink {
  speaks = false
  isEnded = false
  characters = 0
  usage: WireUsage | null = null
  unfinished: number
  soFar: StreamedSoFar | null
  fault: unknown = null
  isUnspeakable = false
  readonly #wire: ChatWire
  readonly #writer: EventWriter
  readonly #chunks: Chunk[] = []
  #reader: WireEvents | null = null
  /** Events of one chunk, and all events of the part before it. */
  #chunkOut = ''
  #out = ''

  constructor(wire: ChatWire, writer: EventWriter, choices: number, soFar: StreamedSoFar | null) {
    this.#wire = wire
    this.#writer = writer
    this.unfinished = choices
    this.soFar = soFar
  }

  push(event: DialectEvent): void {
    this.#chunkOut += printEvent(event)
  }

  read(part: Buffer, status: number): string {
    try {
      this.isEnded = this.#readerOf(status).read(part, this.#chunks)
    } catch (fault) {
      this.fault = fault
    }
    // What came before a fault is still good.
    for (const chunk of this.#chunks) this.#take(chunk)
    this.#chunks.length = 0
    return this.#given()
  }

  cut(status: number): void {
    this.#readerOf(status).cut()
  }

  finish(): string {
    this.#write(null)
    return this.#given()
  }

  #readerOf(status: number): WireEvents {
    return (this.#reader ??= this.#wire.events(status))
  }

  #take(chunk: Chunk): void {
    if (this.isUnspeakable) return
    countChunk(this, chunk)
    this.#write(chunk)
  }

  /** Null stands for the end. */
  #write(chunk: Chunk | null): void {
    this.#chunkOut = ''
    try {
      if (chunk === null) this.#writer.end(this)
      else this.#writer.take(chunk, this)
      this.#out += this.#chunkOut
    } catch (fault) {
      this.fault = fault
      this.isUnspeakable = true
    }
  }

  #given(): string {
    const out = this.#out
    this.#out = ''
    return latinOf(out)
  }
}

const latinOf = (text: string): string => (isPlain.test(text) ? text : Buffer.from(text).toString('latin1'))

// eslint-disable-next-line no-control-regex
const isPlain = /^[\x00-\x7f]*$/
