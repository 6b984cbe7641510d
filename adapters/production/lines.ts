import type { IncomingMessage } from 'node:http'

/** Lines as they come. Leaving before the end leaves the message as it is. */
export async function* linesOf(message: IncomingMessage): AsyncGenerator<string, undefined> {
  message.setEncoding('utf8')
  let held = ''
  for await (const part of message.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    let from = 0
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', from)) {
      yield held + part.slice(from, at)
      held = ''
      from = at + 1
    }
    held += part.slice(from)
  }
}
