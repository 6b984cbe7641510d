import type { IncomingMessage } from 'node:http'
import { Unavailable } from '../../../core/errors.ts'

/** Lines as they arrive. An early end of the reading leaves the message open. */
export const linesOf = (message: IncomingMessage): AsyncGenerator<string, undefined> => {
  message.setEncoding('utf8')
  return linesIn(message.iterator({ destroyOnReturn: false }) as AsyncIterable<string>)
}

async function* linesIn(parts: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let held = ''
  for await (const part of parts) {
    let from = 0
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', from)) {
      yield held + part.slice(from, at)
      held = ''
      from = at + 1
    }
    held += part.slice(from)
  }
}

/** The first bytes of a message, and the lines after them. Throws Unavailable when the message ends early. */
export const bytesThenLines = async (
  message: IncomingMessage,
  length: number,
): Promise<{ readonly bytes: Uint8Array; readonly lines: AsyncGenerator<string, undefined> }> => {
  const parts = message.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  const bytes = new Uint8Array(length)
  let rest: Buffer = Buffer.alloc(0)
  for (let size = 0; size < length;) {
    const { done, value } = await parts.next()
    if (done) throw new Unavailable()
    const taken = value.subarray(0, length - size)
    bytes.set(taken, size)
    size += taken.length
    rest = value.subarray(taken.length)
  }
  async function* behind(): AsyncGenerator<string> {
    yield rest.toString('latin1')
    for await (const part of parts) yield part.toString('latin1')
  }
  return { bytes, lines: linesIn(behind()) }
}
