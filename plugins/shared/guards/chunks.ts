import type { Pace } from '../../../core/dialects/loop-time.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import type { TextWatch } from '../../../core/ports/guard.ts'
import { type Soon, isLater, soon } from '../../../core/ports/soon.ts'
import { through } from '../through.ts'
import type { Chunk, ChunkChoice, ToolCallPart } from '../../../core/ports/upstream.ts'
import { type Wording, answerWording, jsonWording, piecesOf } from './texts.ts'

type Delta = ChunkChoice['delta']

/** Gives a watch for one text; null when no guard watches it. */
type Watching = () => TextWatch | null

/** How the texts of one answer are watched, and the time of the loop that this takes. */
export interface Watched {
  readonly watching: Watching
  readonly pace: Pace
}

/** Members of a delta whose texts grow piece by piece. Every other text of a delta is whole. */
const growing = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Characters of the arguments of one tool call. */
const mostArguments = 8 * 1024 * 1024

/** Steps that may have to wait: `yield* waited(value)` gives the value of each. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>

/** The value of a step. */
export function* waited<T>(value: Soon<T>): Steps<T> {
  return (isLater(value) ? yield value : value) as T
}

/** Does the steps, at once where none of them has to wait. */
export const done = <T>(steps: Steps<T>): Soon<T> => {
  const after = ({ done, value }: IteratorResult<Promise<unknown>, T>): Soon<T> =>
    done === true
      ? value
      : value.then(
          (given) => after(steps.next(given)),
          (fault: unknown) => after(steps.throw(fault)),
        )
  return after(steps.next())
}

/** All texts of something whole through a watch each. */
export function* passed<T>({ texts, with: worded }: Wording<T>, { watching, pace }: Watched): Steps<T> {
  const next: string[] = []
  for (const { text } of texts) {
    const watch = watching()
    next.push(watch === null ? text : (yield* wholeText(text, watch, pace)) + (yield* waited(watch.end())).text)
  }
  return worded(next)
}

/** Characters of a whole text that a guard sees at once: about as many as one turn of the loop has time for. */
const atOnce = 16 * 1024
/** Nanoseconds that the guards take for a character, and for a piece of any length. */
const [characterNs, pieceNs] = [60, 20_000]

/** A long text goes through its watch in pieces, each in a turn of the loop. */
function* wholeText(text: string, watch: TextWatch, pace: Pace): Steps<string> {
  let passed = ''
  for (const piece of piecesOf(text, atOnce)) {
    passed += (yield* waited(watch.take(piece))).text
    const turn = pace.spend(pieceNs + characterNs * piece.length)
    if (turn !== null) yield turn
  }
  return passed
}

/** Texts that grow, by the name of their member or `tool_calls` with an index. */
type Channels = Map<string, TextWatch>

interface Guarding extends Watched {
  /** Of each choice. */
  readonly choices: Map<number, Channels>
  last: Chunk | null
}

/**
 * Chunks whose texts go through a watch each. What is held back comes with a later chunk of the same text, and at the
 * latest before another text begins, before the finish reason, or at the end.
 */
export const chunksThrough = (chunks: AsyncIterable<Chunk>, watched: Watched): Flow<Chunk> => {
  const guarding: Guarding = { ...watched, choices: new Map(), last: null }
  return through<Chunk, Chunk>(chunks, {
    take: (chunk, into) => done(orNothing(into, take(guarding, chunk, into))),
    end(into, fault) {
      if (fault !== null) throw fault
      return done(orNothing(into, rest(guarding, into)))
    },
  })
}

/** Nothing goes on of a chunk that a guard refuses. */
function* orNothing(into: Chunk[], steps: Steps<void>): Steps<void> {
  try {
    yield* steps
  } catch (refusal) {
    into.length = 0
    throw refusal
  }
}

function* rest(guarding: Guarding, into: Chunk[]): Steps<void> {
  if (guarding.last === null) return
  for (const index of guarding.choices.keys()) yield* flush(guarding, guarding.last, index, new Set(), into)
}

/** Emits what the other channels of a choice hold back, as chunks of their own. */
function* flush(guarding: Guarding, head: Chunk, index: number, but: ReadonlySet<string>, into: Chunk[]): Steps<void> {
  const channels: Channels = guarding.choices.get(index) ?? new Map<string, TextWatch>()
  for (const [name, watch] of channels) {
    if (but.has(name)) continue
    channels.delete(name)
    const { text } = yield* waited(watch.end())
    if (text === '') continue
    const { usage: _, ...rest } = head
    into.push({ ...rest, choices: [{ index, delta: deltaOf(name, text), finish_reason: null }] })
  }
}

function* choiceThrough(
  guarding: Guarding,
  head: Chunk,
  choice: ChunkChoice,
  into: Chunk[],
): Steps<ChunkChoice | null> {
  const { index, delta, finish_reason, logprobs: _, ...rest } = choice
  const channels: Channels = guarding.choices.get(index) ?? new Map<string, TextWatch>()
  guarding.choices.set(index, channels)
  const names = namesIn(delta)
  yield* flush(guarding, head, index, names, into)
  const passed = yield* deltaThrough(delta, channels, guarding, finish_reason != null)
  const isSilent = names.size > 0 && finish_reason == null && saysNothing(passed)
  return isSilent ? null : { ...rest, index, delta: passed, finish_reason }
}

/** Events of a dialect would go on as they came, so the chunks are worded anew. */
function* take(guarding: Guarding, { native: _, ...chunk }: Chunk, into: Chunk[]): Steps<void> {
  const kept: ChunkChoice[] = []
  for (const choice of chunk.choices) {
    const next = yield* choiceThrough(guarding, chunk, choice, into)
    if (next !== null) kept.push(next)
  }
  if (kept.length > 0 || chunk.choices.length === 0 || chunk.usage != null) into.push({ ...chunk, choices: kept })
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

function* textThrough(
  text: string,
  name: string,
  channels: Channels,
  watched: Watched,
  isLast: boolean,
): Steps<string> {
  let watch = channels.get(name)
  if (watch === undefined) channels.set(name, (watch = watchOf(name, watched)))
  const next = (yield* waited(watch.take(text))).text
  if (!isLast) return next
  channels.delete(name)
  return next + (yield* waited(watch.end())).text
}

function* deltaThrough(delta: Delta, channels: Channels, watched: Watched, isLast: boolean): Steps<Delta> {
  const texts: Record<string, string> = {}
  for (const name of growing) {
    const text = delta[name]
    if (typeof text === 'string' && text !== '') texts[name] = yield* textThrough(text, name, channels, watched, isLast)
  }
  const { tool_calls: calls, ...others } = delta
  const whole = Object.fromEntries(Object.entries(others).filter(([name]) => !(name in texts)))
  const rest = yield* passed(answerWording(whole), watched)
  if (calls == null) return { ...delta, ...rest, ...texts }
  const made: ToolCallPart[] = []
  for (const call of calls) {
    const { arguments: json } = call.function ?? {}
    if (!json) made.push(call)
    else {
      const own = yield* textThrough(json, callName(call), channels, watched, isLast)
      made.push({ ...call, function: { ...call.function, arguments: own } })
    }
  }
  return { ...delta, ...rest, ...texts, tool_calls: made }
}

/** A text without a guard goes on as it comes. */
const watchOf = (name: string, watched: Watched): TextWatch =>
  name.startsWith('tool_calls')
    ? argumentsWatch(watched)
    : (watched.watching() ?? { take: (text) => ({ text }), end: () => ({ text: '' }) })

/** Arguments come whole: a value in them may be cut by an escape of JSON. */
const argumentsWatch = (watched: Watched): TextWatch => {
  let json = ''
  return {
    take(piece) {
      json += piece
      if (json.length > mostArguments) throw new UpstreamFailed(undefined, { cause: new Error('Endless arguments') })
      return { text: '' }
    },
    end: () => soon(done(passed(jsonWording(json), watched)), (text) => ({ text })),
  }
}

/** Whether nothing is left to tell but empty pieces and their indexes. */
const saysNothing = ({ tool_calls: calls, ...delta }: Delta): boolean =>
  Object.values(delta).every((member) => member == null || member === '') &&
  (calls ?? []).every(
    ({ index: _, function: { arguments: json = '', ...named } = {}, ...call }) =>
      json === '' && Object.keys(named).length === 0 && Object.keys(call).length === 0,
  )
