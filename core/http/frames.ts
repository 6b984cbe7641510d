import { ServerResponse } from 'node:http'

/** How parts of a body go onto the connection. */
export interface Frames {
  readonly headers: Readonly<Record<string, string>>
  /** Called once the head is written, which says how the body is framed. */
  begin(): void
  /** A part as it is written; empty parts are never framed. */
  frame(part: string): string
  /** What stands behind the last part, null where Node writes it. */
  readonly last: string | null
}

const byNode: Frames = { headers: {}, begin: () => {}, frame: (part) => part, last: null }

/**
 * Chunks of HTTP/1.1 in one write a part, where Node takes four. Only where the response is Node's own: a wrapper around
 * `write`, such as a compressor, would take the frames for content.
 */
export const framesOf = (response: ServerResponse, own: boolean): Frames => {
  if (!own || response.req.httpVersion !== '1.1' || response.write !== ServerResponse.prototype.write) return byNode
  return {
    headers: { 'transfer-encoding': 'chunked' },
    begin() {
      response.chunkedEncoding = false
    },
    frame: (part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`,
    last: '0\r\n\r\n',
  }
}
