import { setTimeout as sleep } from 'node:timers/promises'
import type { SceneName } from './scene-list.ts'
import { until } from './until.ts'
import {
  type Line,
  type WrittenStream,
  type Asking,
  type Wording,
  answer,
  failure,
  respond,
  streamOn,
  wordsOf,
} from './written-answer.ts'

/** Signs of life that a caller gets before a late first token. */
export const lively = 3

/** How long the backend waits. */
export interface Tempo {
  /** Stretches or shrinks every wait. */
  readonly pace: number
  /** Ms beyond its time that a late first token waits for the signs of life before it. */
  readonly late: number
}

/** One call, in the dialect in which it came. */
export interface Ask extends Omit<Asking, 'conversation'> {
  readonly wording: Wording
  readonly model: string
  readonly stream: boolean
  /** How often this conversation has asked, from 1. */
  readonly call: number
}

/** One call, as the backend plays it. */
interface Part extends Line {
  readonly tempo: Tempo
  readonly ask: Ask
}

/** Resolves to true when the fault was the whole play; otherwise the answer follows. */
type Fault = (part: Part) => Promise<boolean> | boolean

const words = wordsOf(answer)

/** The whole answer, or what a prefix leaves of it. */
const whole = async (part: Part, parts: readonly string[], finish = 'stop'): Promise<void> => {
  const { socket, ask } = part
  const { wording, model, stream } = ask
  if (!stream) return respond(socket, 200, wording.whole(model))
  const out = streamOn(part)
  for (const event of wording.begin(model)) await out.event(event)
  await rest(out, ask, parts, finish)
}

/** The words behind the first ones, and the end. */
const rest = async (out: WrittenStream, ask: Ask, parts: readonly string[], finish = 'stop'): Promise<void> => {
  const { wording, model, includeUsage } = ask
  for (const word of parts) await out.event(wording.word(model, word))
  for (const event of wording.end(model, parts.join(''), finish, includeUsage)) await out.event(event)
  out.end()
}

const isFirst = ({ ask }: Part): boolean => ask.call === 1

/** Resolves when the socket closes; the backend never ends this wait itself. */
const forever = ({ socket }: Part): Promise<void> => new Promise((resolve) => socket.once('close', resolve))

/** An error with this status where `applies` holds. Each line of `headers` brings its own CRLF. */
const answering =
  (applies: (part: Part) => boolean, status: number, headers = ''): Fault =>
  (part) => {
    if (!applies(part)) return false
    respond(part.socket, status, failure, headers)
    return true
  }

/** Half of the answer, then what goes wrong; a backend that goes on from a prefix does so in peace. */
const halfway =
  (then: (out: WrittenStream, part: Part) => Promise<unknown> | unknown): Fault =>
  async (part) => {
    const { wording, model, prefix } = part.ask
    if (prefix !== '') return false
    const out = streamOn(part)
    for (const event of wording.begin(model)) await out.event(event)
    for (const word of words.slice(0, 30)) await out.event(wording.word(model, word))
    await sleep(20)
    await then(out, part)
    return true
  }

/** The connection stays open for 30 s without a byte, at the drill's pace, and is then cut. */
const stalling = async (out: WrittenStream, part: Part): Promise<void> => {
  await Promise.race([sleep(30_000 * part.tempo.pace), forever(part)])
  if (!part.socket.destroyed) out.cut()
}

/** One event ends in the middle of its JSON; the rest of the stream is without fault. */
const malforming = async (out: WrittenStream, { ask }: Part): Promise<void> => {
  await out.event('{"id":"chatcmpl-fault","choices":[{"index":0,"delta":{"content":')
  await rest(out, ask, words.slice(30))
}

/** Tokens of `size` characters, `gap` ms apart. Only the other side can end this answer. */
const endless =
  (size: number, gap: number): Fault =>
  async (part) => {
    const out = streamOn(part)
    const { wording, model } = part.ask
    const text = 'x'.repeat(size)
    for (const event of wording.begin(model)) await out.event(event)
    while (!part.socket.destroyed) {
      await out.event(wording.word(model, text))
      await sleep(gap)
    }
    return true
  }

const silent: Fault = async (part) => {
  await forever(part)
  return true
}

/** A TCP reset comes in place of the first byte of the answer. */
const reset: Fault = (part) => {
  if (!isFirst(part)) return false
  part.socket.resetAndDestroy()
  return true
}

/** The first call promises 500 bytes more than it sends, and the second one 50 bytes fewer. */
const wrongLength: Fault = ({ socket, ask: { wording, model, call } }) => {
  if (call > 2) return false
  const body = wording.whole(model)
  respond(socket, 200, body, '', Buffer.byteLength(body) + (call === 1 ? 500 : -50))
  socket.end()
  return true
}

/** The first 200 bytes of the body come as one chunk, and the end mark of the chunks never comes. */
const cutBody: Fault = (part) => {
  if (!isFirst(part)) return false
  const { socket, ask } = part
  const body = Buffer.from(ask.wording.whole(ask.model)).subarray(0, 200)
  socket.write(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`,
  )
  socket.write(body)
  socket.end()
  return true
}

/** Every way in which bytes may come apart: one at a time, all line ends, a byte order mark, comments, a line of 2 MB. */
const dribble: Fault = async (part) => {
  const { wording, model, includeUsage } = part.ask
  const { piece, end } = streamOn(part)
  const ends = ['\n', '\r\n', '\r']
  const bytewise = async (text: string): Promise<void> => {
    for (const byte of Buffer.from(text)) {
      await piece(Buffer.of(byte))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await bytewise('\ufeff: hello\n\n')
  for (const event of wording.begin(model)) await bytewise(`data: ${event}\n\n`)
  for (const [index, word] of words.entries()) {
    const nl = ends[index % 3]
    const event = `${index % 7 === 0 ? `: note${nl}` : ''}${index % 5 === 0 ? `event: message${nl}id: ${index}${nl}` : ''}data:${index % 2 ? ' ' : ''}${wording.word(model, word)}${nl}${nl}`
    if (index === 40) await piece(`data: ${wording.word(model, '', { padding: 'p'.repeat(2 * 1024 * 1024) })}\n\n`)
    if (index < 12 || /[^\x20-\x7e]/.test(word)) await bytewise(event)
    else await piece(event)
  }
  for (const event of wording.end(model, answer, 'stop', includeUsage)) await bytewise(`data: ${event}\r\n\r\n`)
  end()
  return true
}

/** By the name of the scene. One without a fault of the backend is not here. */
const faults: Readonly<Partial<Record<SceneName, Fault>>> = {
  S01: answering(isFirst, 429, 'retry-after: 1\r\n'),
  S02: answering(isFirst, 500),
  S03: answering(({ ask }) => ask.call <= 2, 503),
  S05: reset,
  S06: (part) => isFirst(part) && silent(part),
  async S07({ tempo: { pace, late }, seen }) {
    await sleep(20_000 * pace)
    // A busy machine delays the signs of life as well as this: the token comes after them, or late.
    await until(() => seen.comments >= lively, late)
    return false
  },
  S08: halfway((out) => out.cut()),
  S09: halfway(stalling),
  S10: halfway(malforming),
  S11: halfway(async (out, { ask }) => {
    await out.event(ask.wording.failed)
    out.end()
  }),
  S12: wrongLength,
  async S13(part) {
    await whole(part, words.slice(0, 10), 'content_filter')
    return true
  },
  S14: halfway((out) => out.cut()),
  S15: cutBody,
  S16: dribble,
  C01: silent,
  C02: endless(20, 10),
  C03: endless(16 * 1024, 0),
  C04: endless(16 * 1024, 0),
  C05: silent,
}

const isScene = (model: string): model is SceneName => Object.hasOwn(faults, model)

/** Plays the fault of the model's name; afterwards the socket is free for the next request, or destroyed. */
export const play = async (line: Line, tempo: Tempo, ask: Ask): Promise<void> => {
  const part: Part = { ...line, tempo, ask }
  if (isScene(ask.model) && (await faults[ask.model]?.(part)) === true) return
  const goesOn = ask.prefix !== '' && answer.startsWith(ask.prefix)
  await whole(part, goesOn ? wordsOf(answer.slice(ask.prefix.length)) : words)
}
