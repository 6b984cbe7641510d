import type { IncomingMessage, ServerResponse } from 'node:http'

/** Requests whose sender waits for a word before it sends the body. */
const waiting = new WeakSet<IncomingMessage>()

/** Notes a request with `Expect: 100-continue` (RFC 9110, 10.1.1). */
export const awaitsContinue = (request: IncomingMessage): void => void waiting.add(request)

/** Lets the body come: only now is the caller known and the body wanted. */
export const mayContinue = (request: IncomingMessage, response: ServerResponse): void => {
  if (waiting.delete(request)) response.writeContinue()
}
