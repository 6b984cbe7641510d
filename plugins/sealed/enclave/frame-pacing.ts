import type { Clock } from '../../../core/ports/platform.ts'
import type { Chunk, ChunkChoice } from '../../../core/ports/upstream.ts'
import { wholeDelta } from '../../../core/dialects/chat-completions.ts'
import { utf8 } from '../wire/bytes.ts'
import { bucket } from '../wire/frames.ts'
import { mergedChunk } from './merge-chunks.ts'
import { mostChunkBytes, shortChunks } from './short-chunks.ts'

/** In ms: the distance of two frames. A shorter one would show when single tokens come. */
const tick = 50
/** Chunks that wait; a faster source is paused. */
const mostChunks = 512

/** A chunk with its JSON, which is printed once. */
export interface PacedStream {
  readonly chunk: Chunk
  readonly text: Uint8Array
}

/** Chunks between their source and the frames. */
interface Pacing {
  readonly source: AsyncIterator<Chunk>
  readonly queue: Chunk[]
  ended: boolean
  fault: { readonly error: unknown } | null
  /** Called when a chunk or the end comes. */
  wake: () => void
  /** Called when there is room in the queue. */
  resume: () => void
}

/**
 * Sends chunks at fixed times, counted from the first chunk: the first at once, then at most one every 50 ms. Chunks in
 * between are merged, up to one bucket of bytes. Neither times nor sizes of frames then reveal the lengths of tokens.
 * An end or an error follows after all earlier chunks.
 */
export async function* pacedFrames(
  chunks: AsyncIterable<Chunk>,
  model: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<PacedStream> {
  const source = chunks[Symbol.asyncIterator]()
  const pacing: Pacing = { source, queue: [], ended: false, fault: null, wake: () => {}, resume: () => {} }
  const { queue } = pacing
  const reading = readAll(pacing)
  try {
    let began = 0
    for (let first = true; ; first = false) {
      while (queue.length === 0 && !pacing.ended) await new Promise<void>((go) => (pacing.wake = go))
      if (!first) {
        const late = (clock.now() - began) % tick
        await clock.sleep(tick - late, signal)
      }
      if (queue.length === 0) break
      const frame = take(queue, model)
      pacing.resume()
      yield frame
      if (first) began = clock.now()
    }
    if (pacing.fault !== null) throw pacing.fault.error
  } finally {
    pacing.ended = true
    pacing.resume()
    await source.return?.()
    await reading
  }
}

/** Reads the source into the queue. A fault waits behind the chunks before it. */
const readAll = async (pacing: Pacing): Promise<void> => {
  const { source, queue } = pacing
  try {
    for (;;) {
      const { done, value } = await source.next()
      if (done) break
      queue.push(...textThenFinish(value))
      pacing.wake()
      if (queue.length >= mostChunks) await new Promise<void>((go) => (pacing.resume = go))
      if (pacing.ended) break
    }
  } catch (error) {
    pacing.fault = { error }
  }
  pacing.ended = true
  pacing.wake()
}

/** Takes as many chunks as fit in one frame. */
const take = (queue: Chunk[], model: string): PacedStream => {
  const first = queue.shift()
  if (first === undefined) throw new Error('No chunk waits')
  let chunk: Chunk = { ...wholeChunk(first), model, usage: first.usage ?? null }
  let size = sizeOf(chunk)
  if (size > mostChunkBytes) {
    queue.unshift(...shortChunks(chunk))
    return take(queue, model)
  }
  for (let next = queue[0]; next !== undefined && !parts(chunk, next); next = queue[0]) {
    let text = speaks(chunk) ? textIn(queue, bucket - size) : nothing
    let more = { ...mergedChunk(chunk, text.chunk ?? wholeChunk(next)), model }
    let longer = sizeOf(more)
    if (longer > bucket && text.count > 0) {
      // The fields beside the text have grown, too.
      text = textIn(queue, bucket - longer + text.size)
      more = { ...mergedChunk(chunk, text.chunk ?? wholeChunk(next)), model }
      longer = sizeOf(more)
    }
    if (longer > bucket) break
    queue.splice(0, Math.max(1, text.count))
    ;[chunk, size] = [more, longer]
  }
  return { chunk, text: utf8(JSON.stringify(chunk)) }
}

/** Fills in every field of a choice and its delta. The delta of a final choice is empty. */
const whole = (choice: ChunkChoice): ChunkChoice => ({
  logprobs: null,
  matched_stop: null,
  ...choice,
  delta: choice.finish_reason == null ? wholeDelta(choice.delta) : {},
})

const wholeChunk = (chunk: Chunk): Chunk => ({ ...chunk, choices: chunk.choices.map(whole) })

/** True when a choice has ended. */
const ends = ({ choices }: Chunk): boolean => choices.some(({ finish_reason }) => finish_reason != null)

/** Whether a finish reason separates two chunks. Its chunk carries no text, but may carry usage. */
const parts = (one: Chunk, next: Chunk): boolean => ends(one) !== ends(next) && next.choices.length > 0

/** Splits a chunk with text and a finish reason: the text comes first. */
const textThenFinish = (chunk: Chunk): readonly Chunk[] => {
  const says = ({ delta }: ChunkChoice) => Object.values(delta).some((value) => value != null && value !== '')
  if (!ends(chunk) || !chunk.choices.some(says)) return [chunk]
  const { usage: _, ...rest } = chunk
  return [
    { ...rest, choices: chunk.choices.map((choice) => ({ ...choice, finish_reason: null })) },
    {
      ...chunk,
      choices: chunk.choices
        .filter((choice) => choice.finish_reason != null)
        .map((choice) => ({ ...choice, delta: {} })),
    },
  ]
}

const nothing = { chunk: null, size: 0, count: 0 } as const

/** True when the chunk has one choice with text: further text of this choice adds only its own length. */
const speaks = ({ choices }: Chunk): boolean => choices.length === 1 && typeof choices[0]?.delta.content === 'string'

/** In bytes of the chunk's JSON. */
const sizeOf = (chunk: Chunk): number => Buffer.byteLength(JSON.stringify(chunk))

/** The leading text chunks of the queue as one chunk of at most `room` bytes. Most streams consist of text only. */
const textIn = (queue: readonly Chunk[], room: number) => {
  let content = ''
  let size = 0
  let count = 0
  for (const chunk of queue) {
    const text = textOf(chunk)
    if (text === null || chunk.choices[0]?.index !== queue[0]?.choices[0]?.index) break
    const longer = Buffer.byteLength(JSON.stringify(text)) - 2
    if (size + longer > room) break
    content += text
    size += longer
    count++
  }
  const first = queue[0]
  const choice = first?.choices[0]
  const chunk = count === 0 || !first || !choice ? null : { ...first, choices: [{ ...choice, delta: { content } }] }
  return { chunk, size, count }
}

/** The text of a chunk that has only text; null for any other chunk. */
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
