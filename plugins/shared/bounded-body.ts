import { UpstreamFailed } from '../../core/errors.ts'
import { gatheredBytes } from '../../core/gathered-bytes.ts'
import type { Answer } from '../../core/ports/platform.ts'

/** The body of an answer. Throws UpstreamFailed when it has more than `most` bytes. */
export const boundedBody = async ({ body }: Answer, most: number): Promise<Buffer> => {
  const gathered = gatheredBytes()
  for await (const part of body) {
    gathered.add(part)
    if (gathered.length > most) throw new UpstreamFailed('The answer is too large')
  }
  return gathered.whole()
}
