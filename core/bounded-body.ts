import { UpstreamFailed } from './errors.ts'
import type { Answer } from './ports/platform.ts'

/** The body of an answer. Throws UpstreamFailed when it has more than `most` bytes. */
export const boundedBody = async ({ body }: Answer, most: number): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > most) throw new UpstreamFailed('The answer is too large')
    parts.push(part)
  }
  return Buffer.concat(parts)
}
