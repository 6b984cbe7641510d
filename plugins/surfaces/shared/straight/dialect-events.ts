import { type DialectEvent, type EventSink, type EventWriter, printEvent } from '../../../../core/dialects/event.ts'
import type { StreamedSoFar } from '../../../../core/inference/routing/continue-stream.ts'
import type { ChatWire, Chunk, TextField, WireEvents, WireUsage } from '../../../../core/ports/upstream.ts'
import { type CallEvents, countChunk } from './call-events.ts'
import { RepeatedEvents, latinOf } from './repeated-events.ts'

const carriageReturn = 13
const lineFeed = 10
const eventEnd = '\n\n'
/** Characters of last events that one turn of the loop prints. */
const turnCharacters = 512 * 1024

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
  readonly rest: DialectEvent[] = []
  readonly #wire: ChatWire
  readonly #writer: EventWriter
  readonly #chunks: Chunk[] = []
  readonly #repeated = new RepeatedEvents()
  /** What the event says that later ones may repeat. */
  #field: TextField = 'content'
  /** Whether the writer's last events come. */
  #isLast = false
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
    if (this.#chunkOut.length < turnCharacters || !this.#isLast) this.#chunkOut += printEvent(event)
    else this.rest.push(event)
  }

  read(part: Buffer, status: number): string {
    const repeated = this.#repeated
    const { again } = this.#writer
    // Lines that end otherwise are for the reader alone, as are the events of a stream that nothing is learned from.
    const isPlain = !repeated.isHopeless && again !== undefined && !part.includes(carriageReturn)
    const bytes = isPlain ? part.toString('latin1') : ''
    const whole = behind(bytes.lastIndexOf(eventEnd))
    let at = this.#isBetween ? 0 : behind(bytes.indexOf(eventEnd))
    let out = at === 0 ? '' : this.#anew(part.subarray(0, at), null, status)
    while (at < whole && !this.isEnded && this.fault === null) {
      // Empty lines between events say nothing.
      if (bytes.charCodeAt(at) === lineFeed) {
        at++
        continue
      }
      const end = repeated.next(bytes, at)
      const number = end > 0 && (again === 'always' || again!(repeated.words))
      if (number !== false) {
        this.characters += repeated.words.length
        if (this.soFar !== null) this.#remember(this.soFar, repeated.words)
        out += repeated.out(number)
        at = end
      } else {
        const next = behind(bytes.indexOf(eventEnd, at))
        out += this.#anew(part.subarray(at, next), bytes.slice(at, next), status)
        at = next
      }
    }
    this.#isBetween = at === part.length && isPlain
    if (this.#isBetween || this.isEnded || this.fault !== null) return out
    return out + this.#anew(part.subarray(at), null, status)
  }

  cut(status: number): void {
    this.#readerOf(status).cut()
  }

  finish(): string {
    this.#isLast = true
    this.#write(null)
    return latinOf(this.#given())
  }

  #readerOf(status: number): WireEvents {
    return (this.#reader ??= this.#wire.events(status))
  }

  #remember(soFar: StreamedSoFar, words: string): void {
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

/** The place behind the end of an event; 0 where no end was found. */
const behind = (end: number): number => (end < 0 ? 0 : end + eventEnd.length)
