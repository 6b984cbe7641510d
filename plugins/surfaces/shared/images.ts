import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { tokensOf, userOf } from '../../../core/inference/metering/tokens.ts'
import { route } from '../../../core/http/route.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { anyProvider, membersBeyond, pinned, provider } from './provider-field.ts'
import { countShape, drawImages, drawNeeds, formatShape, sizeShape } from './draw-images.ts'
import { checked } from '../../../core/validate.ts'
import type { Form, FormFile } from '../../../core/http/form.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import { modelAble } from '../../shared/model-able.ts'
import { fieldsOf, flag, others } from './form-fields.ts'

const fields = {
  model: ModelName,
  prompt: v.pipe(v.string(), v.minLength(1)),
  n: v.nullish(countShape),
  size: v.nullish(sizeShape),
  response_format: v.nullish(formatShape),
  stream: v.nullish(v.boolean()),
  partial_images: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(3))),
  provider: anyProvider,
}

const wish = v.looseObject(fields)

/** Members that the schema does not name go to the backend as they are. */
export const generations = route({
  method: 'POST',
  path: '/std/images/generations',
  summary: 'Draws images from a text; the answer contains the images themselves, or comes as events.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: wish, bytes: 1024 * 1024 },
  needs: drawNeeds,
  async handle({ input, record, caller, signal }, { catalog, meter, ...given }) {
    const { model: name, prompt, n, size, response_format, stream } = input
    const provider = pinned(input.provider)
    const extra = membersBeyond(input, fields)
    const entry = await servedModel(catalog, caller, name, 'draw', signal)
    const guess = { input: tokensOf(prompt), output: 0, images: n ?? 1, user: userOf(extra) }
    const reservation = await meter.reserve(caller, entry, guess, record)
    return drawImages(
      {
        task: { entry, ability: 'draw', provider, request: record.id },
        reservation,
        guess: { input: guess.input, output: 0, estimated: true },
        format: response_format ?? 'b64_json',
        stream: stream === true,
        kind: 'image_generation',
        ask: ({ upstream, model }, signal) =>
          upstream.draw(
            { model, prompt, ...(n != null && { count: n }), ...(size != null && { size }), extra },
            signal,
          ),
      },
      given,
      signal,
    )
  },
})

/** What an image costs to look at, about. */
const perImage = 1_000

const file = v.custom<FormFile>((value) => value !== undefined, 'an image file')

const editWish = v.object({
  model: ModelName,
  prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(100_000)),
  image: v.pipe(v.array(file), v.minLength(1), v.maxLength(16)),
  mask: v.optional(file),
  n: v.optional(v.pipe(v.string(), v.transform(Number), countShape)),
  size: v.optional(sizeShape),
  response_format: v.optional(formatShape),
  stream: flag,
  provider,
  extra: v.array(v.tuple([v.string(), v.string()])),
})

/** The fields as they are sent. */
const sent = v.looseObject({
  model: v.string(),
  prompt: v.string(),
  image: v.string(),
  mask: v.optional(v.string()),
  n: v.optional(v.string()),
  size: v.optional(v.string()),
  response_format: v.optional(formatShape),
  stream: v.optional(v.picklist(['true', 'false'])),
  provider: v.optional(v.string()),
})

/** Fields that the gateway reads itself. All others go to the backend as they are. */
const own = ['model', 'prompt', 'n', 'size', 'response_format', 'stream', 'provider', 'partial_images'] as const

const wishOf = (form: Form): v.InferOutput<typeof editWish> =>
  checked(editWish, {
    ...fieldsOf(form, own),
    image: ['image', 'image[]'].flatMap((name) => form.every.get(name) ?? []),
    mask: form.files.get('mask'),
    extra: others(form, own),
  })

const edits = ({ edit }: Upstream): boolean => edit !== undefined

/** Clients name one image `image` and several `image[]`; the images under both names count together. */
export const imageEdits = route({
  method: 'POST',
  path: '/std/images/edits',
  summary: 'Changes images by a text; the answer contains the images themselves, or comes as events.',
  access: { scope: 'chats.completion' },
  body: { read: 'form', schema: editWish, form: sent, bytes: ({ bodies }) => bodies.audio, check: wishOf },
  needs: drawNeeds,
  async handle({ input, record, caller, signal }, { catalog, meter, ...given }) {
    const { prompt, image: images, mask, n: count, size, response_format, stream, provider, extra } = input
    const found = await servedModel(catalog, caller, input.model, 'draw', signal)
    const entry = modelAble(found, edits, 'model', 'expected a model that edits images')
    const user = userOf(Object.fromEntries(extra))
    const guess = { input: tokensOf(prompt) + perImage * images.length, output: 0, images: count ?? 1, user }
    const reservation = await meter.reserve(caller, entry, guess, record)
    const call = {
      prompt,
      images,
      ...(mask !== undefined && { mask }),
      ...(count !== undefined && { count }),
      ...(size !== undefined && { size }),
      extra: Object.fromEntries(extra),
    }
    return drawImages(
      {
        task: { entry, ability: 'draw', provider: provider ?? null, request: record.id },
        reservation,
        guess: { input: guess.input, output: 0, estimated: true },
        format: response_format ?? 'b64_json',
        stream,
        kind: 'image_edit',
        ask: ({ upstream, model }, signal) => upstream.edit!({ model, ...call }, signal),
      },
      given,
      signal,
    )
  },
})
