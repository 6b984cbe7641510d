import { isDeepStrictEqual } from 'node:util'
import type { ChatBody, Chunk, ChunkChoice } from '../../core/ports/upstream.ts'

/**
 * Chunks of one stream mostly differ in a text alone. Such a chunk is read by comparing its JSON with the one before, and
 * printed by putting its text between what was printed before: parsing and printing it anew costs many times as much.
 * A chunk also knows the JSON as which it came, so that it can go on so.
 */
export interface Parsed {
  readonly chunk: Chunk
  /** The chunk is what its JSON says, without a member that was added or mended. */
  readonly isAsSent: boolean
}

interface Shape extends Parsed {
  /** The field of the delta that has the text. */
  readonly field: TextField
  /** The JSON between the texts. */
  readonly between: readonly string[]
}

type TextField = 'content' | 'reasoning_content'

/** Texts in the order of the JSON; what pads an event to a length comes second, where there is any. */
type Texts = readonly [text: string, padding?: string]

interface Wording {
  /** Null for a chunk that has no text, or whose place in the JSON is not certain. */
  readonly shape: Shape | null
  /** The texts of the shape as JSON, without quotes. */
  readonly texts: Texts | null
  /** Null unless the chunk is as it was sent. */
  readonly json: string | null
}

/** A chunk that knows how it was worded. A changed copy of it is a plain object and knows nothing. */
class WordedChunk {
  readonly #wording: Wording
  constructor(members: Chunk, more: object | null, wording: Wording) {
    Object.assign(this, members, more)
    this.#wording = wording
  }
  static wordingOf(chunk: object): Wording | null {
    return #wording in chunk ? chunk.#wording : null
  }
}

const worded = (members: Chunk, more: object | null, wording: Wording): Chunk =>
  new WordedChunk(members, more, wording) as unknown as Chunk

/** The members of a chunk that are not those of its shape. */
const filling = (
  { chunk, field }: Shape,
  [text, padding]: Texts,
): Pick<Chunk, 'choices'> & { readonly obfuscation?: string } => {
  const [choice] = chunk.choices
  const choices = [{ ...choice!, delta: { ...choice!.delta, [field]: text } }]
  return padding === undefined ? { choices } : { choices, obfuscation: padding }
}

const filled = (shape: Shape, texts: Texts): Chunk => ({ ...shape.chunk, ...filling(shape, texts) })

/** Chunks in a row that no later chunk resembled, after which a stream is only parsed. */
const mostStrange = 4

/** Reads the chunks of one stream. `parse` throws for what is no chunk. */
export const chunkReader = (parse: (data: string) => Parsed): ((data: string) => Chunk) => {
  let shape: Shape | null = null
  let strange = 0
  return (data) => {
    const texts = shape === null ? null : textsIn(data, shape.between)
    const words = texts === null ? null : textsOf(texts)
    if (words !== null) {
      strange = 0
      return worded(shape!.chunk, filling(shape!, words), { shape, texts, json: shape!.isAsSent ? data : null })
    }
    const { chunk, isAsSent } = parse(data)
    if (strange < mostStrange) {
      strange++
      shape = shapeOf({ chunk, isAsSent }, data, parse)
    }
    return isAsSent ? worded(chunk, null, { shape: null, texts: null, json: data }) : chunk
  }
}

/** The JSON of other texts between the same; null where anything else differs. */
const textsIn = (data: string, between: readonly string[]): Texts | null => {
  const texts: string[] = []
  const last = between.length - 1
  const first = between[0]!
  if (!data.startsWith(first) || !data.endsWith(between[last]!)) return null
  let at = first.length
  for (let gap = 1; gap <= last; gap++) {
    const next = between[gap]!
    const end = gap === last ? data.length - next.length : data.indexOf(next, at)
    if (end < at) return null
    texts.push(data.slice(at, end))
    at = end + next.length
  }
  return texts as unknown as Texts
}

/** What these texts say; null unless each of them is the inside of one JSON string. */
const textsOf = ([text, padding]: Texts): Texts | null => {
  const words = textOf(text)
  if (words === null || padding === undefined) return words === null ? null : [words]
  const pads = textOf(padding)
  return pads === null ? null : [words, pads]
}

/** Whether a text is its own JSON. */
const isPlain = (text: string): boolean => !/["\\\u0000-\u001f]/.test(text)

/** The text that stands between two quotes of a JSON; null where it ends before the second one. */
export const textOf = (json: string): string | null => {
  if (isPlain(json)) return json
  try {
    return JSON.parse(`"${json}"`) as string
  } catch {
    return null
  }
}

const probe = '~'

/** What later chunks may repeat; null where the place of the text in the JSON is not certain. */
const shapeOf = ({ chunk, isAsSent }: Parsed, data: string, parse: (data: string) => Parsed): Shape | null => {
  const delta = chunk.choices.length === 1 ? chunk.choices[0]!.delta : null
  const field = delta?.content ? 'content' : 'reasoning_content'
  const text = delta?.[field]
  if (!text || delta['reasoning'] !== undefined) return null
  const padding = chunk['obfuscation']
  const texts: Texts = typeof padding === 'string' ? [text, padding] : [text]
  const between = cut(data, [`"${field}":`, '"obfuscation":'], texts)
  if (between === null) return null
  const shape = { chunk, isAsSent, field, between } as const
  const other: Texts = texts.length === 1 ? [probe] : [probe, probe]
  const isSame = isDeepStrictEqual(parse(between.join(probe)).chunk, filled(shape, other))
  return isSame ? shape : null
}

/** The JSON around these texts, each behind its name; null where one is not there as it is. */
const cut = (data: string, names: readonly string[], texts: Texts): readonly string[] | null => {
  const between: string[] = []
  let at = 0
  for (const [place, text] of texts.entries()) {
    const found = new RegExp(`${names[place]}\\s*"`, 'g')
    found.lastIndex = at
    if (!isPlain(text!) || found.exec(data) === null || !data.startsWith(`${text}"`, found.lastIndex)) return null
    between.push(data.slice(at, found.lastIndex))
    at = found.lastIndex + text!.length
  }
  return [...between, data.slice(at)]
}

/** Stand for the texts while a shape is printed. */
const marks = ['\u0001', '\u0002'] as const

/** Gives null where a chunk gives nothing to print. `json` is the chunk as it was sent, null where it was changed since. */
type Print = (chunk: Chunk, json: string | null) => string | null

/** Prints the chunks of one stream as `print` does. */
export const chunkPrinter = (print: Print): ((chunk: Chunk) => string | null) => {
  let last: Shape | null = null
  let printed: readonly string[] | null = null
  return (chunk) => {
    const wording = WordedChunk.wordingOf(chunk)
    if (wording === null) return print(chunk, null)
    const { shape, texts, json } = wording
    if (shape === null || texts === null) return print(chunk, json)
    if (shape !== last) {
      last = shape
      printed = printedAround(shape, print)
    }
    if (printed === null) return print(chunk, json)
    const [text, padding] = texts
    const head = `${printed[0]}${text}${printed[1]}`
    return padding === undefined ? head : `${head}${padding}${printed[2]}`
  }
}

/** What is printed around the texts; null unless each of them is printed once, in their order. */
const printedAround = (shape: Shape, print: Print): readonly string[] | null => {
  const { between, isAsSent } = shape
  const used = marks.slice(0, between.length - 1)
  const written = used.map((mark) => JSON.stringify(mark).slice(1, -1))
  const json = isAsSent ? between.reduce((text, part, at) => text + written[at - 1] + part) : null
  const text = print(filled(shape, used as unknown as Texts), json) ?? ''
  const places = written.map((mark) => text.indexOf(mark))
  const inOrder = places.every((place, at) => place > (places[at - 1] ?? -1))
  const once = written.every((mark, at) => text.lastIndexOf(mark) === places[at])
  return inOrder && once ? text.split(/\\u000[12]/) : null
}

/** A delta of the interface has all its keys, null where they say nothing. */
export const withAllKeys = (delta: ChunkChoice['delta']): ChunkChoice['delta'] => ({
  role: null,
  content: null,
  reasoning_content: null,
  tool_calls: null,
  ...delta,
})

/** Whether the caller wants usage in its stream. The gateway wants usage of every backend, to count by. */
export const asksUsage = (body: ChatBody): boolean => {
  const options = body['stream_options'] as { readonly include_usage?: unknown } | null | undefined
  return options?.include_usage === true
}

/** The chunk for a caller who did not ask for usage; null for one that carries nothing else. */
export const withoutUsage = (chunk: Chunk): Chunk | null => {
  if (chunk.usage === undefined) return chunk
  if (chunk.usage !== null && chunk.choices.length === 0) return null
  // Not printed, and a copy without the field costs ten times as much.
  return { ...chunk, usage: undefined as never }
}
