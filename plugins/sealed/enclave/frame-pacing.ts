import { randomBytes } from 'node:crypto'
import { type End, Flow, cleanEnd, flowOf, leaveQuietly } from '../../../core/ports/flow.ts'
import type { Alarm, Clock } from '../../../core/ports/platform.ts'
import type { Chunk, ChunkChoice } from '../../../core/ports/upstream.ts'
import { withAllKeys, withoutUsage } from '../../shared/repeated-chunks.ts'
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

/** What a caller sees of each chunk: the name of the model, and the counts of tokens where it asked for them. */
interface Shown {
  readonly model: string
  readonly counts: boolean
}

/**
 * Sends chunks at fixed times, counted from the first chunk: the first at once, then at most one every 50 ms. Chunks in
 * between are merged, up to one bucket of bytes. Neither times nor sizes of frames then reveal the lengths of tokens.
 * An end or an error follows after all earlier chunks.
 */
class PacedFrames extends Flow<PacedStream> {
  readonly #source: Flow<Chunk>
  readonly #model: string
  readonly #counts: boolean
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #queue: Chunk[] = []
  /** What all chunks of the answer tell alike; null before the first one. */
  #head: ChunkHead | null = null
  /** When the first frame went; null before. */
  #began: number | null = null
  /** The reader may have the next frame, or the end. */
  #isDue = false
  #isReading = false
  #end: End | null = null
  #alarm: Alarm | null = null
  #go: (() => void) | null = null

  constructor(source: Flow<Chunk>, { model, counts }: Shown, clock: Clock, signal: AbortSignal) {
    super()
    this.#source = source
    this.#model = model
    this.#counts = counts
    this.#clock = clock
    this.#signal = signal
  }

  ready(): PacedStream | null {
    if (!this.#isDue || this.#queue.length === 0) return null
    try {
      const frame = take(this.#queue, this.#model)
      this.#isDue = false
      this.#began ??= this.#clock.now()
      this.#read()
      return frame
    } catch (fault) {
      this.#breaks(fault)
      return null
    }
  }

  ended(): End | null {
    return this.#isDue ? this.#end : null
  }

  wait(go: () => void): void {
    this.#go = go
    this.#read()
    this.#pace()
  }

  async leave(): Promise<void> {
    this.#alarm?.off()
    this.#queue.length = 0
    if (this.#end !== null) return
    this.#end = cleanEnd
    await this.#source.leave()
  }

  /** Reads the chunks that are there. A source pauses while too many chunks wait. */
  #read(): void {
    while (!this.#isReading && this.#end === null && this.#queue.length < mostChunks) {
      const chunk = this.#source.ready()
      if (chunk !== null) this.#add(chunk)
      else this.#end = this.#source.ended()
      if (chunk !== null || this.#end !== null) continue
      this.#isReading = true
      this.#source.wait(this.#came)
    }
  }

  #add(chunk: Chunk): void {
    try {
      const given = this.#counts || chunk.usage == null ? chunk : withoutUsage(chunk)
      if (given === null) return
      const shown = headed(given, (this.#head ??= headOf(given, this.#clock)))
      if (ends(shown)) this.#queue.push(...textThenFinish(shown))
      else this.#queue.push(shown)
    } catch (fault) {
      this.#breaks(fault)
    }
  }

  /** Ends the answer by a chunk that can't be worded. */
  #breaks(fault: unknown): void {
    this.#queue.length = 0
    this.#end = { fault }
    leaveQuietly(this.#source)
  }

  readonly #came = (): void => {
    this.#isReading = false
    this.#read()
    this.#pace()
  }

  /** Tells a waiting reader of the next frame at its time. */
  #pace(): void {
    if (this.#go === null || (this.#queue.length === 0 && this.#end === null)) return
    if (this.#began === null || this.#signal.aborted) return this.#due()
    this.#alarm ??= this.#clock.alarm(tick - ((this.#clock.now() - this.#began) % tick), this.#due)
  }

  readonly #due = (): void => {
    this.#alarm = null
    this.#isDue = true
    const go = this.#go
    this.#go = null
    go?.()
  }
}

type ChunkHead = Pick<Chunk, 'id' | 'object' | 'created'>

/** The head of an answer's first chunk; what a backend leaves out or words otherwise is made. */
const headOf = ({ id, created }: Partial<Chunk>, clock: Clock): ChunkHead => ({
  id: typeof id === 'string' && id !== '' ? id : `chatcmpl-${randomBytes(12).toString('hex')}`,
  object: 'chat.completion.chunk',
  created: Number.isSafeInteger(created) && created! > 0 ? created! : Math.floor(clock.now() / 1000),
})

/** A chunk with the head of its answer; most backends repeat the head themselves. */
const headed = (chunk: Chunk, head: ChunkHead): Chunk =>
  chunk.id === head.id && chunk.created === head.created && chunk.object === head.object ? chunk : { ...chunk, ...head }

/** The chunks of one answer, as they are sealed. */
export const pacedFrames = (
  chunks: AsyncIterable<Chunk>,
  shown: Shown,
  clock: Clock,
  signal: AbortSignal,
): Flow<PacedStream> => new PacedFrames(flowOf(chunks), shown, clock, signal)

/** Takes as many chunks as fit in one frame. */
const take = (queue: Chunk[], model: string): PacedStream => {
  const first = queue.shift()
  if (first === undefined) throw new Error('No chunk waits')
  let chunk: Chunk = { ...wholeChunk(first), model, usage: first.usage ?? null }
  let printed = print(chunk)
  if (printed.length > mostChunkBytes) {
    queue.unshift(...shortChunks(chunk))
    return take(queue, model)
  }
  for (let next = queue[0]; next !== undefined && !parts(chunk, next); next = queue[0]) {
    let text = speaks(chunk) ? textIn(queue, bucket - printed.length) : nothing
    let more = { ...mergedChunk(chunk, text.chunk ?? wholeChunk(next)), model }
    let longer = print(more)
    if (longer.length > bucket && text.count > 0) {
      // The fields beside the text have grown, too.
      text = textIn(queue, bucket - longer.length + text.size)
      more = { ...mergedChunk(chunk, text.chunk ?? wholeChunk(next)), model }
      longer = print(more)
    }
    if (longer.length > bucket) break
    queue.splice(0, Math.max(1, text.count))
    ;[chunk, printed] = [more, longer]
  }
  return { chunk, text: printed }
}

const print = (chunk: Chunk): Uint8Array => utf8(JSON.stringify(chunk))

/** Fills in every field of a choice and its delta. The delta of a final choice is empty. */
const whole = (choice: ChunkChoice): ChunkChoice => ({
  logprobs: null,
  matched_stop: null,
  ...choice,
  delta: choice.finish_reason == null ? withAllKeys(choice.delta) : {},
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
