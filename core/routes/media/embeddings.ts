import * as v from 'valibot'
import { ModelName } from '../../dialects/model-name.ts'
import { listOf } from '../../validate.ts'
import { json } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import { Inference } from '../../inference/inference.ts'
import { Catalog } from '../../inference/models/catalog.ts'
import { Meter } from '../../inference/metering/meter.ts'
import { tokensOf } from '../../inference/metering/tokens.ts'
import { served } from '../find-model.ts'
import { anyProvider, pinned } from '../provider-field.ts'
import { charged } from '../settle.ts'
import { able } from './able.ts'

const token = v.pipe(v.number(), v.integer(), v.minValue(0))
const most = 2048

const embedding = v.object({
  model: ModelName,
  input: v.union([
    v.pipe(v.string(), v.minLength(1)),
    listOf(v.string(), 1, most),
    listOf(token, 1, 100_000),
    listOf(listOf(token, 1, 100_000), 1, most),
  ]),
  encoding_format: v.optional(v.picklist(['float', 'base64']), 'float'),
  dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  provider: anyProvider,
})

type Input = v.InferOutput<typeof embedding>['input']
type Asked =
  { readonly texts: readonly string[] } | { readonly texts: null; readonly tokens: readonly (readonly number[])[] }

/** One text or list of tokens may stand for itself. */
const askedOf = (input: Input): Asked => {
  if (typeof input === 'string') return { texts: [input] }
  const [first] = input
  if (typeof first === 'string') return { texts: input as readonly string[] }
  return { texts: null, tokens: (typeof first === 'number' ? [input] : input) as readonly (readonly number[])[] }
}

const sizeOf = (asked: Asked): number =>
  asked.texts === null
    ? asked.tokens.reduce((sum, { length }) => sum + length, 0)
    : asked.texts.reduce((sum, text) => sum + tokensOf(text), 0)

export const embeddings = route({
  method: 'POST',
  path: '/std/embeddings',
  summary: 'Makes vectors of one text or several, or of lists of tokens.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: embedding, bytes: ({ bodies }) => bodies.chat },
  needs: { catalog: Catalog, inference: Inference, meter: Meter },
  async handle({ input, caller, signal }, { catalog, inference, meter }) {
    const asked = askedOf(input.input)
    const { provider, routing } = pinned(input.provider)
    const found = await served(catalog, caller, input.model, 'embed', signal)
    const takesTokens = ({ embedTokens }: { readonly embedTokens?: unknown }) => embedTokens !== undefined
    const entry =
      asked.texts === null ? able(found, takesTokens, 'input', 'expected text: the model takes no tokens') : found
    const reservation = await meter.reserve(caller, entry, { input: sizeOf(asked), output: 0 })
    const more = { extra: routing, ...(input.dimensions !== undefined && { dimensions: input.dimensions }) }
    const { vectors, usage } = await charged(
      reservation,
      inference.run(
        { entry, ability: 'embed', provider },
        ({ upstream, model }, signal) =>
          asked.texts === null
            ? upstream.embedTokens!({ model, tokens: asked.tokens, ...more }, signal)
            : upstream.embed!({ model, texts: asked.texts, ...more }, signal),
        signal,
      ),
      ({ usage }) => usage,
    )
    const print = input.encoding_format === 'float' ? (vector: Float32Array) => Array.from(vector) : base64
    return json(
      {
        object: 'list',
        data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: print(vector) })),
        model: entry.name,
        usage: { prompt_tokens: usage.input, total_tokens: usage.input + usage.output },
      },
      200,
      reservation.headers,
    )
  },
})

const base64 = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
