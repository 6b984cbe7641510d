import type { IncomingMessage } from 'node:http'
import { Unavailable } from '../../../core/errors.ts'
import { type End, Flow, cleanEnd } from '../../../core/ports/flow.ts'
import { through } from '../../../plugins/shared/through.ts'

/** The parts of a message, as they arrive. An early end of the reading leaves the message open. */
class MessageParts<Part extends string | Buffer> extends Flow<Part> {
  readonly #message: IncomingMessage
  #end: End | null = null
  #go: (() => void) | null = null

  constructor(message: IncomingMessage) {
    super()
    this.#message = message
    message.on('readable', this.#wake)
    message.once('end', () => this.#ends(cleanEnd))
    message.on('error', (fault) => this.#ends({ fault }))
    message.once('close', () => {
      if (this.#end === null) this.#ends({ fault: new Unavailable() })
    })
  }

  ready(): Part | null {
    return this.#end === null ? (this.#message.read() as Part | null) : null
  }

  ended(): End | null {
    return this.#end
  }

  wait(go: () => void): void {
    if (this.#end === null) this.#go = go
    else go()
  }

  leave(): void {
    this.#ends(cleanEnd)
  }

  #ends(end: End): void {
    this.#end ??= end
    this.#message.off('readable', this.#wake)
    this.#wake()
  }

  readonly #wake = (): void => {
    const go = this.#go
    this.#go = null
    go?.()
  }
}

/** Lines as they arrive. An early end of the reading leaves the message open. */
export const linesOf = (message: IncomingMessage): Flow<string> => {
  message.setEncoding('utf8')
  return linesIn(new MessageParts<string>(message))
}

const linesIn = (parts: AsyncIterable<string>): Flow<string> => {
  let held = ''
  return through<string, string>(parts, {
    take(part, into) {
      const lines = part.split('\n')
      lines[0] = held + lines[0]
      held = lines.pop() ?? ''
      into.push(...lines)
    },
  })
}

/** Bytes of a known length that come in parts, and the lines after them. */
export interface BytesThenLines {
  readonly bytes: AsyncIterable<Uint8Array> & { readonly length: number }
  readonly lines: Flow<string>
}

/** The first bytes of a message as they arrive, and the lines after them. The bytes throw Unavailable where they end early. */
export const bytesThenLines = (message: IncomingMessage, length: number): BytesThenLines => {
  const parts = new MessageParts<Buffer>(message)
  let rest: Buffer = Buffer.alloc(0)
  async function* first(): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      const { done, value } = await parts.next()
      if (done === true) throw new Unavailable()
      const taken = value.subarray(0, left)
      left -= taken.length
      rest = value.subarray(taken.length)
      yield taken
    }
  }
  async function* behind(): AsyncGenerator<string> {
    yield rest.toString('latin1')
    for await (const part of parts) yield part.toString('latin1')
  }
  return { bytes: Object.assign(first(), { length }), lines: linesIn(behind()) }
}
