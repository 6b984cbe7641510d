import type { IncomingMessage } from 'node:http'
import { BadRequest, TooLarge } from '../../../core/errors.ts'

/** Bytes. The whole file stands in memory until it is sealed. */
const mostBytes = 256 * 1024 * 1024

/** The whole body in memory: plaintext is written to no disk. */
export const uploadedBytes = async (request: IncomingMessage): Promise<Uint8Array> => {
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (!Number.isSafeInteger(length)) throw new BadRequest('A file needs its length')
  if (length > mostBytes) throw new TooLarge('A file of this page has at most 256 MiB; sealgate files put takes longer ones') // prettier-ignore
  const bytes = new Uint8Array(length)
  let at = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
