import { UpstreamFailed } from '../../core/errors.ts'
import { gatheredBytes } from '../../core/gathered-bytes.ts'
import type { Answer } from '../../core/ports/platform.ts'

/** All bytes that come. Throws when they are more than `most`. */
export const boundedBytes = async (
  from: AsyncIterable<Uint8Array>,
  most: number,
  tooLarge: () => Error,
): Promise<Buffer> => {
  const gathered = gatheredBytes()
  for await (const part of from) {
    gathered.add(part)
    if (gathered.length > most) throw tooLarge()
  }
  return gathered.whole()
}

/** The body of an answer. Throws UpstreamFailed when it has more than `most` bytes. */
export const boundedBody = ({ body }: Answer, most: number): Promise<Buffer> =>
  boundedBytes(body, most, () => new UpstreamFailed('The answer is too large'))
