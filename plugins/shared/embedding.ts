import * as v from 'valibot'
import { wireUsage } from '../../core/dialects/chat-completions.ts'
import { freeTurn } from '../../core/dialects/loop-time.ts'
import { gatheredBytes } from '../../core/gathered-bytes.ts'
import { ModelName } from '../../core/dialects/model-name.ts'
import { listOf } from '../../core/validate.ts'
import type { Embedded } from '../../core/ports/embed.ts'
import type { Usage } from '../../core/ports/usage.ts'
import type { Inference } from '../../core/inference/inference.ts'
import { tokensOf } from '../../core/inference/metering/tokens.ts'
import { modelAble } from './model-able.ts'
import type { Entry } from '../../core/inference/models/catalog-entry.ts'

const filled = v.pipe(v.string(), v.minLength(1))
const isToken = (item: unknown): boolean => Number.isInteger(item) && (item as number) >= 0
const tokens = listOf(v.pipe(v.number(), v.integer(), v.minValue(0)), 1, 100_000, isToken)
const mostTexts = 2048

/** The body of the route, but for `provider`. */
export const embeddingFields = {
  model: ModelName,
  input: v.union([filled, listOf(v.string(), 1, mostTexts), tokens, listOf(tokens, 1, mostTexts)]),
  encoding_format: v.nullish(v.picklist(['float', 'base64']), 'float'),
  dimensions: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
}

type Embedding = v.InferOutput<v.ObjectSchema<typeof embeddingFields, undefined>>

type EmbeddingInput =
  { readonly texts: readonly string[] } | { readonly texts: null; readonly tokens: readonly (readonly number[])[] }

/** One text or list of tokens may stand for itself. */
const askedOf = (input: Embedding['input']): EmbeddingInput => {
  if (typeof input === 'string') return { texts: [input] }
  const [first] = input
  if (typeof first === 'string') return { texts: input as readonly string[] }
  return { texts: null, tokens: (typeof first === 'number' ? [input] : input) as readonly (readonly number[])[] }
}

/** Tokens of the input; those of a text by a guess. */
export const sizeOf = ({ input }: Pick<Embedding, 'input'>): number => {
  const wanted = askedOf(input)
  return wanted.texts === null
    ? wanted.tokens.reduce((sum, { length }) => sum + length, 0)
    : wanted.texts.reduce((sum, text) => sum + tokensOf(text), 0)
}

const takesTokens = ({ embedTokens }: { readonly embedTokens?: unknown }) => embedTokens !== undefined

/** The model with the backends that take this input; throws BadRequest where none does. */
export const embedding = (found: Entry, { input }: Embedding): Entry =>
  askedOf(input).texts === null
    ? modelAble(found, takesTokens, 'input', 'expected text: the model takes no tokens')
    : found

interface Wish {
  readonly entry: Entry
  readonly provider: string | null
  /** Goes on to the backend. */
  readonly extra: Readonly<Record<string, unknown>>
  /** The id of the request. */
  readonly request?: string
}

/** Asks the backends of the model in their order. */
export const embed = (
  inference: Inference,
  { input, dimensions }: Embedding,
  { entry, provider, extra, request }: Wish,
  signal: AbortSignal,
): Promise<{ readonly answer: Embedded; readonly backend: string }> => {
  const wanted = askedOf(input)
  const more = { extra, ...(dimensions != null && { dimensions }) }
  return inference.run(
    { entry, ability: 'embed', provider, ...(request !== undefined && { request }) },
    ({ upstream, model }, signal) =>
      wanted.texts === null
        ? upstream.embedTokens!({ model, tokens: wanted.tokens, ...more }, signal)
        : upstream.embed({ model, texts: wanted.texts, ...more }, signal),
    signal,
  )
}

/** Numbers that one turn of the loop prints: a quarter of a microsecond each. */
const numbersOfTurn = 2_048

/** A list of vectors within an answer: the JSON around the list, and the word for each vector. */
export interface VectorList {
  readonly before: string
  item(vector: Float32Array, index: number): unknown
  readonly behind: string
}

/** JSON of an answer with vectors, printed in turns of the loop: a thousand vectors are 30 MB of numbers. */
export const printVectors = async (
  vectors: readonly Float32Array[],
  { before, item, behind }: VectorList,
): Promise<Uint8Array> => {
  const bytes = gatheredBytes()
  let [text, numbers] = [before, 0]
  for (const [index, vector] of vectors.entries()) {
    text += (index === 0 ? '' : ',') + JSON.stringify(item(vector, index))
    numbers += vector.length
    if (numbers < numbersOfTurn) continue
    bytes.add(Buffer.from(text))
    ;[text, numbers] = ['', 0]
    await freeTurn()
  }
  bytes.add(Buffer.from(text + behind))
  return bytes.whole()
}

/** The answer of the route, under the caller's name of the model. */
export const printEmbedded = (answer: Embedded, wish: Embedding, model: string): Promise<Uint8Array> => {
  const print = wish.encoding_format === 'float' ? (vector: Float32Array) => Array.from(vector) : base64
  const { completion_tokens: _, ...used } = wireUsage(usedIn(answer, wish))
  return printVectors(answer.vectors, {
    before: '{"object":"list","data":[',
    item: (vector, index) => ({ object: 'embedding', index, embedding: print(vector) }),
    behind: `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(used)}}`,
  })
}

const base64 = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** What the backend counted, or a guess. */
export const usedIn = (answer: Embedded, wish: Pick<Embedding, 'input'>): Usage =>
  countedOf(answer) ?? { input: sizeOf(wish), output: 0, estimated: true }

/** Null where the backend counted nothing: a call without a count is counted as reserved. */
export const countedOf = ({ usage }: Embedded): Embedded['usage'] | null => (usage.input > 0 ? usage : null)
