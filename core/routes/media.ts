import * as v from 'valibot'
import { listOf } from '../validate.ts'
import { json } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Inference } from '../inference/inference.ts'
import { Catalog } from '../inference/models/catalog.ts'
import { Meter } from '../inference/metering/meter.ts'
import { tokensOf } from '../inference/metering/tokens.ts'
import { Clock } from '../ports/platform.ts'
import { audio } from './audio.ts'
import { charged } from './settle.ts'
import { provider } from './provider-field.ts'
import { served } from './find-model.ts'

const texts = v.union([v.pipe(v.string(), v.minLength(1)), listOf(v.string(), 1, 2048)])

const embedding = v.object({
  model: v.string(),
  input: texts,
  encoding_format: v.optional(v.picklist(['float', 'base64']), 'float'),
  dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  provider,
})

const embed = route({
  method: 'POST',
  path: '/std/embeddings',
  summary: 'Makes vectors of one text or several.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: embedding, bytes: ({ bodies }) => bodies.chat },
  needs: { catalog: Catalog, inference: Inference, meter: Meter },
  async handle({ input, caller, signal }, { catalog, inference, meter }) {
    const { dimensions } = input
    const texts = typeof input.input === 'string' ? [input.input] : input.input
    const entry = await served(catalog, caller, input.model, 'embed', signal)
    const estimate = { input: texts.reduce((sum, text) => sum + tokensOf(text), 0), output: 0 }
    const reservation = await meter.reserve(caller, entry, estimate)
    const { vectors, usage } = await charged(
      reservation,
      inference.run(
        { entry, ability: 'embed', provider: input.provider ?? null },
        ({ upstream, model }, signal) =>
          upstream.embed!({ model, texts, ...(dimensions !== undefined && { dimensions }) }, signal),
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

const drawing = v.looseObject({
  model: v.string(),
  prompt: v.pipe(v.string(), v.minLength(1)),
  n: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)))),
  size: v.optional(
    v.nullable(v.pipe(v.string(), v.regex(/^(auto|\d{2,5}x\d{2,5})$/, 'auto, or a size such as 1024x1024'))),
  ),
  response_format: v.optional(v.nullable(v.picklist(['b64_json', 'url']))),
  provider,
})

const draw = route({
  method: 'POST',
  path: '/std/images/generations',
  summary: 'Draws images from a text; the answer contains the images themselves.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: drawing, bytes: 1024 * 1024 },
  needs: { catalog: Catalog, inference: Inference, meter: Meter, clock: Clock },
  async handle({ input, caller, signal }, { catalog, inference, meter, clock }) {
    const { model: name, prompt, n, size, response_format, provider, ...extra } = input
    const entry = await served(catalog, caller, name, 'draw', signal)
    const reservation = await meter.reserve(caller, entry, { input: tokensOf(prompt), output: 0, images: n ?? 1 })
    const drawn = await charged(
      reservation,
      inference.run(
        { entry, ability: 'draw', provider: provider ?? null },
        ({ upstream, model }, signal) =>
          upstream.draw!(
            { model, prompt, ...(n != null && { count: n }), ...(size != null && { size }), extra },
            signal,
          ),
        signal,
      ),
      ({ length: images }) => ({ input: tokensOf(prompt), output: 0, images, estimated: true }),
    )
    const images = drawn.map(({ mime, bytes }) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
      // Nothing is stored here, so a link can only be one that carries the image.
      return response_format === 'url' ? { url: `data:${mime};base64,${text}` } : { b64_json: text }
    })
    return json({ created: Math.floor(clock.now() / 1000), data: images }, 200, reservation.headers)
  },
})

export const media = [embed, draw, ...audio] as const
