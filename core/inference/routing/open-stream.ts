import { UpstreamFailed } from '../../errors.ts'
import type { BackendProof } from '../../ports/backend-evidence.ts'
import type { Chunk } from '../../ports/upstream.ts'
import { type Flow, flowOf } from '../../ports/flow.ts'

/** A stream whose first token is there. */
export interface OpenedStream {
  readonly source: Flow<Chunk>
  /** What came up to the first token, in order. */
  readonly held: readonly Chunk[]
  readonly proven?: BackendProof
}

/** Waits for the first token, so that whatever breaks before it can be tried elsewhere without the caller seeing anything. */
export const openStream = async (chunks: AsyncIterable<Chunk>): Promise<OpenedStream> => {
  const source = flowOf(chunks)
  const held: Chunk[] = []
  for (;;) {
    const { done, value } = await source.next()
    if (done) break
    held.push(value)
    if (speaks(value)) break
  }
  if (held.length === 0) throw new UpstreamFailed(undefined, { again: true, cause: new Error('An empty stream') })
  return { source, held }
}

export const speaks = ({ choices }: Chunk): boolean => {
  for (const { delta, finish_reason } of choices) {
    if (finish_reason != null) return true
    for (const name in delta) if (name !== 'role' && delta[name] != null && delta[name] !== '') return true
  }
  return false
}
