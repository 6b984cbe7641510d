import { UpstreamFailed } from '../../../core/errors.ts'
import type { TextWatch } from '../../../core/ports/guard.ts'
import type { Chunk, ChunkChoice, ToolCallPart } from '../../../core/ports/upstream.ts'
import { type Wording, answerWording, jsonWording } from './texts.ts'

type Delta = ChunkChoice['delta']

/** Gives a watch for one text; null when no guard watches it. */
export type Watching = () => TextWatch | null

/** Members of a delta whose texts grow piece by piece. Every other text of a delta is whole. */
const growing = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Characters of the arguments of one tool call. */
const mostArguments = 8 * 1024 * 1024

/** All texts of something whole through a watch each. */
export const passed = async <T>({ texts, with: worded }: Wording<T>, watching: Watching): Promise<T> => {
  const next: string[] = []
  for (const { text } of texts) {
    const watch = watching()
    next.push(watch === null ? text : (await watch.take(text)).text + (await watch.end()).text)
  }
  return worded(next)
}

/** Texts that grow, by the name of their member or `tool_calls` with an index. */
type Channels = Map<string, TextWatch>

interface Guarding {
  readonly source: AsyncIterator<Chunk>
  readonly watching: Watching
  /** Of each choice. */
  readonly choices: Map<number, Channels>
  readonly queue: Chunk[]
  last: Chunk | null
  over: boolean
}

/**
 * Chunks whose texts go through a watch each. What is held back comes with a later chunk of the same text, and at the
 * latest before another text begins, before the finish reason, or at the end.
 */
export const chunksThrough = (chunks: AsyncIterable<Chunk>, watching: Watching): AsyncIterable<Chunk> => {
  const source = chunks[Symbol.asyncIterator]()
  const guarding: Guarding = { source, watching, choices: new Map(), queue: [], last: null, over: false }
  const iterator: AsyncIterator<Chunk> = {
    next: () => nextOf(guarding),
    async return() {
      guarding.over = true
      guarding.queue.length = 0
      await source.return?.()
      return { value: undefined, done: true }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

const nextOf = async (guarding: Guarding): Promise<IteratorResult<Chunk>> => {
  for (;;) {
    const ready = guarding.queue.shift()
    if (ready !== undefined) return { value: ready, done: false }
    if (guarding.over) return { value: undefined, done: true }
    const { done, value } = await guarding.source.next()
    guarding.over = done === true
    try {
      if (!done) await take(guarding, value)
      else if (guarding.last !== null)
        for (const index of guarding.choices.keys()) await flush(guarding, guarding.last, index, new Set())
    } catch (error) {
      guarding.over = true
      guarding.queue.length = 0
      // The reader hears of the refusal, not of a source that fails to close.
      guarding.source.return?.().catch(() => undefined)
      throw error
    }
  }
}

/** Emits what the other channels of a choice hold back, as chunks of their own. */
const flush = async (guarding: Guarding, head: Chunk, index: number, but: ReadonlySet<string>): Promise<void> => {
  const channels: Channels = guarding.choices.get(index) ?? new Map<string, TextWatch>()
  for (const [name, watch] of channels) {
    if (but.has(name)) continue
    channels.delete(name)
    const { text } = await watch.end()
    if (text === '') continue
    const { usage: _, ...rest } = head
    guarding.queue.push({ ...rest, choices: [{ index, delta: deltaOf(name, text), finish_reason: null }] })
  }
}

const through = async (guarding: Guarding, head: Chunk, choice: ChunkChoice): Promise<ChunkChoice | null> => {
  const { index, delta, finish_reason, logprobs: _, ...rest } = choice
  const channels: Channels = guarding.choices.get(index) ?? new Map<string, TextWatch>()
  guarding.choices.set(index, channels)
  const names = namesIn(delta)
  await flush(guarding, head, index, names)
  const passed = await deltaThrough(delta, channels, guarding.watching, finish_reason != null)
  const isSilent = names.size > 0 && finish_reason == null && saysNothing(passed)
  return isSilent ? null : { ...rest, index, delta: passed, finish_reason }
}

/** Events of a dialect would go on as they came, so the chunks are worded anew. */
const take = async (guarding: Guarding, { native: _, ...chunk }: Chunk): Promise<void> => {
  const kept: ChunkChoice[] = []
  for (const choice of chunk.choices) {
    const next = await through(guarding, chunk, choice)
    if (next !== null) kept.push(next)
  }
  if (kept.length > 0 || chunk.choices.length === 0 || chunk.usage != null)
    guarding.queue.push({ ...chunk, choices: kept })
  guarding.last = chunk
}

const callName = ({ index }: ToolCallPart): string => `tool_calls ${index}`

const namesIn = (delta: Delta): ReadonlySet<string> =>
  new Set([
    ...growing.filter((name) => typeof delta[name] === 'string' && delta[name] !== ''),
    ...(delta.tool_calls ?? []).filter((call) => call.function?.arguments).map(callName),
  ])

const deltaOf = (name: string, text: string): Delta => {
  const [member = '', index] = name.split(' ')
  if (index === undefined) return { [member]: text }
  return { tool_calls: [{ index: Number(index), function: { arguments: text } }] }
}

const deltaThrough = async (delta: Delta, channels: Channels, watching: Watching, isLast: boolean): Promise<Delta> => {
  const through = async (name: string, text: string): Promise<string> => {
    let watch = channels.get(name)
    if (watch === undefined) channels.set(name, (watch = watchOf(name, watching)))
    const next = (await watch.take(text)).text
    if (!isLast) return next
    channels.delete(name)
    return next + (await watch.end()).text
  }
  const texts: Record<string, string> = {}
  for (const name of growing) {
    const text = delta[name]
    if (typeof text === 'string' && text !== '') texts[name] = await through(name, text)
  }
  const { tool_calls: calls, ...others } = delta
  const whole = Object.fromEntries(Object.entries(others).filter(([name]) => !(name in texts)))
  const rest = await passed(answerWording(whole), watching)
  if (calls == null) return { ...delta, ...rest, ...texts }
  const made: ToolCallPart[] = []
  for (const call of calls) {
    const { arguments: json } = call.function ?? {}
    made.push(json ? { ...call, function: { ...call.function, arguments: await through(callName(call), json) } } : call)
  }
  return { ...delta, ...rest, ...texts, tool_calls: made }
}

/** A text without a guard goes on as it comes. */
const watchOf = (name: string, watching: Watching): TextWatch =>
  name.startsWith('tool_calls')
    ? argumentsWatch(watching)
    : (watching() ?? { take: (text) => ({ text }), end: () => ({ text: '' }) })

/** Arguments come whole: a value in them may be cut by an escape of JSON. */
const argumentsWatch = (watching: Watching): TextWatch => {
  let json = ''
  return {
    take(piece) {
      json += piece
      if (json.length > mostArguments) throw new UpstreamFailed(undefined, { cause: new Error('Endless arguments') })
      return { text: '' }
    },
    end: async () => ({ text: await passed(jsonWording(json), watching) }),
  }
}

/** Whether nothing is left to tell but empty pieces and their indexes. */
const saysNothing = ({ tool_calls: calls, ...delta }: Delta): boolean =>
  Object.values(delta).every((member) => member == null || member === '') &&
  (calls ?? []).every(
    ({ index: _, function: { arguments: json = '', ...named } = {}, ...call }) =>
      json === '' && Object.keys(named).length === 0 && Object.keys(call).length === 0,
  )
