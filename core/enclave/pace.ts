import type { Clock } from '../ports/host.ts'
import type { Chunk } from '../ports/upstream.ts'
import { utf8 } from '../wire/bytes.ts'
import { bucket } from '../wire/frames.ts'
import { merged } from './merge.ts'

const tick = 50
const most = 512
const slack = 128

export interface Paced {
  readonly chunk: Chunk
  readonly text: Uint8Array
}

/**
 * Chunks at fixed moments: the first one at once, then at most one every 50 ms, counted from it. What came in between is
 * merged, as much as fills one bucket, so that neither the times nor the sizes of frames tell the lengths of tokens.
 * Ends, or throws, once everything before the end was given.
 */
export async function* paced(chunks: AsyncIterable<Chunk>, clock: Clock, signal: AbortSignal): AsyncGenerator<Paced> {
  const queue: Chunk[] = []
  let ended = false
  let fault: { readonly error: unknown } | null = null
  let wake: () => void = () => {}
  let resume: () => void = () => {}
  const source = chunks[Symbol.asyncIterator]()

  const read = async () => {
    for (;;) {
      const { done, value } = await source.next()
      if (done) return
      queue.push(value)
      wake()
      if (queue.length >= most) await new Promise<void>((go) => (resume = go))
      if (ended) return
    }
  }
  const reading = read()
    .catch((error: unknown) => {
      fault = { error }
    })
    .finally(() => {
      ended = true
      wake()
    })

  const take = (): Paced => {
    let chunk = queue.shift()!
    let size = sizeOf(chunk)
    while (queue.length > 0) {
      const more = merged(chunk, queue[0]!)
      const longer = growth(queue[0]!)
      // Near the edge an estimate won't do: fields beside the text may differ too.
      const next = longer === null || size + longer > bucket - slack ? sizeOf(more) : size + longer
      if (next > bucket) break
      queue.shift()
      chunk = more
      size = next
    }
    resume()
    return { chunk, text: utf8(JSON.stringify(chunk)) }
  }

  try {
    let began = 0
    for (let first = true; ; first = false) {
      while (queue.length === 0 && !ended) await new Promise<void>((go) => (wake = go))
      if (!first) {
        const late = (clock.now() - began) % tick
        await clock.sleep(tick - late, signal)
      }
      if (queue.length === 0) break
      yield take()
      if (first) began = clock.now()
    }
    if (fault !== null) throw (fault as { readonly error: unknown }).error
  } finally {
    ended = true
    resume()
    await source.return?.()
    await reading
  }
}

const sizeOf = (chunk: Chunk): number => Buffer.byteLength(JSON.stringify(chunk))

/** By how many bytes a chunk of mere text makes another one longer; null for any other, which has to be tried. */
const growth = ({ choices, usage }: Chunk): number | null => {
  const choice = choices[0]
  if (
    usage != null ||
    choices.length !== 1 ||
    choice === undefined ||
    choice.finish_reason != null ||
    choice.logprobs != null
  )
    return null
  for (const name in choice.delta) if (name !== 'content' && choice.delta[name] != null) return null
  return Buffer.byteLength(JSON.stringify(choice.delta.content ?? '')) - 2
}
