import type { Pace } from '../../../core/dialects/loop-time.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import type { TextWatch } from '../../../core/ports/guard.ts'
import { type Soon, isLater, soon } from '../../../core/ports/soon.ts'
import { through } from '../through.ts'
import type { Chunk, ChunkChoice } from '../../../core/ports/upstream.ts'
import { type Growing, deltaOf, isArguments, isEmpty, withPieces } from './growing.ts'
import { type Wording, answerWording, isJson, jsonWording, piecesOf } from './texts.ts'

/** Gives a watch for one text; null when no guard watches it. */
type Watching = () => TextWatch | null

/** How the texts of one answer are watched, and the time of the loop that this takes. */
export interface Watched {
  readonly watching: Watching
  readonly pace: Pace
}

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

/** A watch of one text. Arguments tell whether they are whole. */
interface Channel extends TextWatch {
  isWhole?(): boolean
}

/** The watches of texts that grow, by their names. */
type Channels = Map<string, Channel>

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
  for (const index of guarding.choices.keys()) yield* flush(guarding, guarding.last, index, new Set(), true, into)
}

/**
 * Emits what the other channels of a choice hold back, as chunks of their own. A call whose arguments are not whole waits
 * for the last chunk: backends may send the pieces of several calls in turns.
 */
function* flush(
  guarding: Guarding,
  head: Chunk,
  index: number,
  but: ReadonlySet<string>,
  isLast: boolean,
  into: Chunk[],
): Steps<void> {
  const channels: Channels = guarding.choices.get(index) ?? new Map<string, Channel>()
  for (const [name, watch] of channels) {
    if (but.has(name) || (!isLast && watch.isWhole?.() === false)) continue
    channels.delete(name)
    const { text } = yield* waited(watch.end())
    if (text === '') continue
    const { usage: _, ...rest } = head
    into.push({ ...rest, choices: [{ index, delta: deltaOf({ name, piece: text }), finish_reason: null }] })
  }
}

function* choiceThrough(
  guarding: Guarding,
  head: Chunk,
  choice: ChunkChoice,
  into: Chunk[],
): Steps<ChunkChoice | null> {
  const { index, delta, finish_reason, logprobs: _, ...rest } = choice
  const channels: Channels = guarding.choices.get(index) ?? new Map<string, Channel>()
  guarding.choices.set(index, channels)
  const pieces: Growing[] = []
  const blank = withPieces(delta, (growing) => {
    pieces.push(growing)
    return ''
  })
  const names = new Set(pieces.filter(({ piece }) => piece !== '').map(({ name }) => name))
  // The sound of a voice comes between the pieces of its words.
  if (!isEmpty(delta['audio'])) names.add('audio')
  // A piece that tells nothing may stand amid a text; some backends repeat the role in each.
  if (finish_reason != null || names.size > 0 || !isEmpty({ ...blank, role: null }))
    yield* flush(guarding, head, index, names, finish_reason != null, into)
  const next: string[] = []
  for (const growing of pieces)
    next.push(growing.piece && (yield* pieceThrough(growing, channels, guarding, finish_reason != null)))
  let at = 0
  const passing = withPieces(yield* passed(answerWording(blank), guarding), () => next[at++] ?? '')
  const isSilent = names.size > 0 && finish_reason == null && isEmpty(passing)
  return isSilent ? null : { ...rest, index, delta: passing, finish_reason }
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

function* pieceThrough({ name, piece }: Growing, channels: Channels, watched: Watched, isLast: boolean): Steps<string> {
  let watch = channels.get(name)
  if (watch === undefined) channels.set(name, (watch = watchOf(name, watched)))
  const next = (yield* waited(watch.take(piece))).text
  if (!isLast) return next
  channels.delete(name)
  return next + (yield* waited(watch.end())).text
}

/** A text without a guard goes on as it comes. */
const watchOf = (name: string, watched: Watched): Channel =>
  isArguments(name)
    ? argumentsWatch(watched)
    : (watched.watching() ?? { take: (text) => ({ text }), end: () => ({ text: '' }) })

/** Arguments come whole: a value in them may be cut by an escape of JSON. */
const argumentsWatch = (watched: Watched): Channel => {
  let json = ''
  let isCut = false
  return {
    /** Looks once: arguments that another text cut before their end stay so. */
    isWhole: () => !(isCut ||= !isJson(json)),
    take(piece) {
      json += piece
      if (json.length > mostArguments) throw new UpstreamFailed(undefined, { cause: new Error('Endless arguments') })
      return { text: '' }
    },
    end: () => soon(done(passed(jsonWording(json), watched)), (text) => ({ text })),
  }
}
