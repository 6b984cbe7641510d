import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { tokensOf, userOf } from '../../../core/inference/metering/tokens.ts'
import { route } from '../../../core/http/route.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { anyProvider, membersBeyond, pinned } from './provider-field.ts'
import { countShape, drawImages, drawNeeds, formatShape, sizeShape } from './draw-images.ts'

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
