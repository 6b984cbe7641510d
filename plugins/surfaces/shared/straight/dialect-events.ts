import { type DialectEvent, type EventSink, type EventWriter, printEvent } from '../../../../core/dialects/event.ts'
import type { StreamedSoFar } from '../../../../core/inference/routing/continue-stream.ts'
import type { ChatWire, Chunk, TextField, WireEvents, WireUsage } from '../../../../core/ports/upstream.ts'
import { type CallEvents, countChunk } from './call-events.ts'
import { RepeatedEvents, latinOf } from './repeated-events.ts'

const carriageReturn = 13
const eventEnd = '\n\n'

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
  readonly #repeated = new RepeatedEvents()
  /** What the event says that later ones may repeat. */
  #field: TextField = 'content'
  /** Whether the last event has come to its end. */
  #isBetween = true
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
    // Lines that end otherwise are for the reader alone, as are the events of a stream that nothing is learned from.
    const isPlain = !this.#repeated.isHopeless && !part.includes(carriageReturn)
    const bytes = isPlain ? part.toString('latin1') : ''
    const last = bytes.lastIndexOf(eventEnd) + eventEnd.length
    let at = this.#isBetween || last < eventEnd.length ? 0 : bytes.indexOf(eventEnd) + eventEnd.length
    let out = at === 0 ? '' : this.#anew(part.subarray(0, at), null, status)
    while (at < last && last >= eventEnd.length && !this.#isOver()) {
      const end = this.#repeated.match(bytes, at)
      if (end > 0 && this.#repeated.isTried && this.#writer.again?.() === true) {
        this.#note(this.#repeated.words)
        out += this.#repeated.out
        at = end
      } else {
        const next = bytes.indexOf(eventEnd, at) + eventEnd.length
        out += this.#anew(part.subarray(at, next), bytes.slice(at, next), status)
        at = next
      }
    }
    this.#isBetween = at === part.length && isPlain
    return this.#isBetween || this.#isOver() ? out : out + this.#anew(part.subarray(at), null, status)
  }

  #isOver(): boolean {
    return this.isEnded || this.fault !== null
  }

  cut(status: number): void {
    this.#readerOf(status).cut()
  }

  finish(): string {
    this.#write(null)
    return latinOf(this.#given())
  }

  #readerOf(status: number): WireEvents {
    return (this.#reader ??= this.#wire.events(status))
  }

  #note(words: string): void {
    this.characters += words.length
    const { soFar } = this
    if (soFar === null) return
    soFar.thinking = this.#field !== 'content'
    if (this.#field === 'content') soFar.text += words
  }

  /** `event` is the whole of the part; null where the part has many events, or a piece of one. */
  #anew(part: Buffer, event: string | null, status: number): string {
    const chunks = this.#chunks
    const reader = this.#readerOf(status)
    try {
      this.isEnded = reader.read(part, chunks)
    } catch (fault) {
      this.fault = fault
    }
    // What came before a fault is still good.
    for (const chunk of chunks) this.#take(chunk)
    const out = latinOf(this.#given())
    if (event === null) this.#repeated.forget()
    else this.#repeated.learn(event, this.#wordsOf(chunks, reader), out)
    chunks.length = 0
    return out
  }

  /** The text that is all the event says; null where later events depend on it. */
  #wordsOf(chunks: readonly Chunk[], { forgets }: WireEvents): string | null {
    const [chunk] = chunks
    if (forgets === undefined || chunks.length !== 1 || this.fault !== null) return null
    const { choices, usage } = chunk!
    const [choice] = choices
    if (choices.length !== 1 || usage != null || choice!.index !== 0 || choice!.finish_reason != null) return null
    const members = Object.entries(choice!.delta).filter(
      ([name, value]) => name !== 'role' && value != null && value !== '',
    )
    const [[name, words] = []] = members
    const field = forgets.find((field) => field === name)
    if (members.length !== 1 || typeof words !== 'string' || field === undefined) return null
    this.#field = field
    return words
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
    return out
  }
}
