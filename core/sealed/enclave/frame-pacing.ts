import type { Clock } from '../../ports/platform.ts'
import type { Chunk, ChunkChoice } from '../../ports/upstream.ts'
import { wholeDelta } from '../../dialects/chat-completions.ts'
import { utf8 } from '../wire/bytes.ts'
import { bucket } from '../wire/frames.ts'
import { merged } from './merge-chunks.ts'

const tick = 50
const most = 512

export interface Paced {
  readonly chunk: Chunk
  readonly text: Uint8Array
}

/**
 * Chunks at fixed moments: the first one at once, then at most one every 50 ms, counted from it. What came in between is
 * merged, as much as fills one bucket, so that neither the times nor the sizes of frames tell the lengths of tokens.
 * Ends, or throws, once everything before the end was given.
 */
export async function* paced(
  chunks: AsyncIterable<Chunk>,
  model: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Paced> {
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
      queue.push(...parted(value))
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

  /** As much of the queue as one frame holds. */
  const take = (): Paced => {
    const first = queue.shift()
    if (first === undefined) throw new Error('No chunk waits')
    let chunk: Chunk = { ...first, model, choices: first.choices.map(whole), usage: first.usage ?? null }
    let size = sizeOf(chunk)
    for (let next = queue[0]; next !== undefined && !parts(chunk, next); next = queue[0]) {
      let text = speaks(chunk) ? textIn(queue, bucket - size) : nothing
      let more = { ...merged(chunk, text.chunk ?? next), model }
      let longer = sizeOf(more)
      if (longer > bucket && text.count > 0) {
        // What stands beside the text has grown too.
        text = textIn(queue, bucket - longer + text.size)
        more = { ...merged(chunk, text.chunk ?? next), model }
        longer = sizeOf(more)
      }
      if (longer > bucket) break
      queue.splice(0, Math.max(1, text.count))
      ;[chunk, size] = [more, longer]
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

/** With every field that a choice and its delta may have; the delta of an end is empty. */
const whole = (choice: ChunkChoice): ChunkChoice => ({
  logprobs: null,
  matched_stop: null,
  ...choice,
  delta: choice.finish_reason == null ? wholeDelta(choice.delta) : choice.delta,
})

const ends = ({ choices }: Chunk): boolean => choices.some(({ finish_reason }) => finish_reason != null)

/** Whether an end stands between them: the chunk that tells it says nothing else. Counts may stand beside it. */
const parts = (one: Chunk, next: Chunk): boolean => ends(one) !== ends(next) && next.choices.length > 0

/** What is said with the end comes before it. */
const parted = (chunk: Chunk): readonly Chunk[] => {
  const says = ({ delta }: ChunkChoice) => Object.values(delta).some((value) => value != null && value !== '')
  if (!ends(chunk) || !chunk.choices.some(says)) return [chunk]
  const { usage: _, ...rest } = chunk
  return [
    { ...rest, choices: chunk.choices.map((choice) => ({ ...choice, finish_reason: null })) },
    { ...chunk, choices: chunk.choices.filter((it) => it.finish_reason != null).map((it) => ({ ...it, delta: {} })) },
  ]
}

const nothing = { chunk: null, size: 0, count: 0 } as const

/** Whether more text makes it longer by that text alone. */
const speaks = ({ choices }: Chunk): boolean => choices.length === 1 && typeof choices[0]?.delta.content === 'string'

const sizeOf = (chunk: Chunk): number => Buffer.byteLength(JSON.stringify(chunk))

/** The text at the head of the queue as one chunk, at most `room` bytes of it: most streams are nothing else, token by token. */
const textIn = (queue: readonly Chunk[], room: number) => {
  let content = ''
  let size = 0
  let count = 0
  for (const chunk of queue) {
    const said = textOf(chunk)
    if (said === null) break
    const longer = Buffer.byteLength(JSON.stringify(said)) - 2
    if (size + longer > room) break
    content += said
    size += longer
    count++
  }
  const first = queue[0]
  const choice = first?.choices[0]
  const chunk = count === 0 || !first || !choice ? null : { ...first, choices: [{ ...choice, delta: { content } }] }
  return { chunk, size, count }
}

/** What a chunk of mere text says; null for any other. */
const textOf = ({ choices, usage }: Chunk): string | null => {
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
  return choice.delta.content ?? ''
}
