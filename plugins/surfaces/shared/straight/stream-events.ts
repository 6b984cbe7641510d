import { isAscii } from 'node:buffer'
import { endMark } from '../../../../core/dialects/chat-completions.ts'
import { type Template, chunkPrinter, chunkReader, templateOf } from '../../../shared/repeated-chunks.ts'
import { type SseEvent, sseUnpacker } from '../../../shared/sse.ts'
import type { StreamedSoFar } from '../../../../core/inference/routing/continue-stream.ts'
import type { CallNumbers, Chunk, CommonWire, WireUsage } from '../../../../core/ports/upstream.ts'
import { garbled } from '../../../shared/backend.ts'
import { type CallEvents, countChunk } from './call-events.ts'

const mostEventLength = 4 * 1024 * 1024
const carriageReturn = 13

/** Words a chunk for the caller; null for a chunk that says nothing to the caller. */
type Print = (chunk: Chunk, json: string | null) => string | null

/**
 * The events of one stream, from the backend's bytes to those of the caller, as strings of Latin-1: an event that differs
 * from the one before by its text alone is cut and joined; every other event is parsed and printed.
 */
export class StreamEvents implements CallEvents {
  speaks = false
  isEnded = false
  characters = 0
  usage: WireUsage | null = null
  unfinished: number
  soFar: StreamedSoFar | null
  fault: unknown = null
  readonly isUnspeakable = false
  readonly #wire: CommonWire
  readonly #numbers: CallNumbers = new Map()
  readonly #print: Print
  readonly #printed: (chunk: Chunk) => string | null
  readonly #parsed: (data: string) => Chunk
  #template: Template | null = null
  #carry = ''
  #out = ''
  /** Reads all further bytes as the standard says, once an event has a name, many lines or other line ends. */
  #unpack: ReturnType<typeof sseUnpacker> | null = null

  constructor(wire: CommonWire, print: Print, choices: number, soFar: StreamedSoFar | null) {
    this.#wire = wire
    this.#print = print
    this.#printed = chunkPrinter(print)
    this.#parsed = chunkReader((json) => wire.parse(null, json, this.#numbers))
    this.unfinished = choices
    this.soFar = soFar
  }

  read(part: Buffer): string {
    try {
      if (this.#unpack !== null) this.#readUnpacked(part)
      else if (part.includes(carriageReturn)) this.#readStrange(part)
      else this.#readPlain(part)
    } catch (fault) {
      this.fault = fault
    }
    const out = this.#out
    this.#out = ''
    return out
  }

  cut(status: number): void {
    if (this.#wire.marksEnd || this.unfinished > 0) throw garbled('The stream ended without its end mark', status)
  }

  finish(): string {
    return `data: ${endMark}\n\n`
  }

  #readStrange(part: Buffer): void {
    const bytes = Buffer.concat([Buffer.from(this.#carry, 'latin1'), part])
    this.#carry = ''
    this.#unpack = sseUnpacker()
    this.#readUnpacked(bytes)
  }

  #readPlain(part: Buffer): void {
    const text = this.#carry + part.toString('latin1')
    this.#carry = ''
    for (let at = 0; at < text.length && !this.isEnded;) {
      const end = text.indexOf('\n\n', at)
      if (end < 0) {
        this.#carry = text.slice(at)
        if (this.#carry.length > mostEventLength) throw garbled('An event is over 4 MiB')
        break
      }
      const event = at === 0 && end + 2 === text.length ? text : text.slice(at, end + 2)
      const repeated = this.#repeated(event)
      if (repeated !== null) this.#out += repeated
      else if (!isOneLine(event)) return this.#readStrange(Buffer.from(text.slice(at), 'latin1'))
      else this.#event(null, dataOf(event))
      at = end + 2
    }
  }

  #readUnpacked(part: Buffer): void {
    const events: SseEvent[] = []
    let cut: unknown = null
    try {
      this.#unpack?.(part, events)
    } catch (fault) {
      // What came before the fault is still good.
      cut = fault
    }
    for (const { event, data } of events) if (!this.isEnded) this.#event(event, data)
    if (cut !== null && !this.isEnded) throw cut
  }

  /** An event that has the shape of the last one; null for any other. */
  #repeated(event: string): string | null {
    const template = this.#template
    if (template === null) return null
    const { head, tail, outHead, outTail, isSame } = template
    const to = event.length - tail.length
    if (to < head.length || !event.startsWith(head) || !event.endsWith(tail)) return null
    const inside = event.slice(head.length, to)
    const words = textInside(inside)
    if (words === null) return null
    this.#note(template, words)
    return isSame ? event : outHead + inside + outTail
  }

  #note({ field }: Template, words: string): void {
    if (words === '') return
    this.speaks = true
    this.characters += words.length
    const { soFar } = this
    if (soFar === null) return
    soFar.thinking = field !== 'content'
    if (field === 'content') soFar.text += words
  }

  #event(event: string | null, data: string): void {
    if (data === '') return
    if (data.startsWith('[DONE]')) {
      this.isEnded = true
      return
    }
    const chunk = event === null ? this.#parsed(data) : this.#wire.parse(event, data, this.#numbers).chunk
    countChunk(this, chunk)
    if (event === null) this.#template = templateOf(chunk, this.#print) ?? this.#template
    const printed = this.#printed(chunk)
    if (printed !== null) this.#out += Buffer.from(`data: ${printed}\n\n`).toString('latin1')
  }
}

const isOneLine = (event: string): boolean => event.startsWith('data:') && event.indexOf('\n') === event.length - 2

/** The data of an event of one line, out of its bytes. */
const dataOf = (event: string): string => {
  const data = event.slice(event.charCodeAt(5) === 32 ? 6 : 5, -2)
  const bytes = Buffer.from(data, 'latin1')
  return isAscii(bytes) ? data : bytes.toString('utf8')
}

/** What bytes say that stand between two quotes of JSON; null where they are not the inside of one string. */
const textInside = (bytes: string): string | null => {
  if (/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(bytes)) return bytes
  try {
    return JSON.parse(`"${Buffer.from(bytes, 'latin1').toString('utf8')}"`) as string
  } catch {
    return null
  }
}
