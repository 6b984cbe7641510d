import * as v from 'valibot'
import { text } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { countedOf, embed, embedding, embeddingFields, printEmbedded, sizeOf } from '../../shared/embedding.ts'
import { userOf } from '../../../core/inference/metering/tokens.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { anyProvider, membersBeyond, pinned } from './provider-field.ts'
import { askNeeds } from './chat-needs.ts'
import { settled } from './settle.ts'

const fields = { ...embeddingFields, user: v.nullish(v.string()), provider: anyProvider }

/** A pinned provider stays with the gateway. Routing fields of an object go on, and so do members that the schema does not name. */
export const embeddings = route({
  method: 'POST',
  path: '/std/embeddings',
  summary: 'Makes vectors of one text or several, or of lists of tokens.',
  access: { scope: 'chats.completion' },
  body: {
    read: 'json',
    schema: v.looseObject(fields),
    bytes: ({ bodies }) => bodies.chat,
  },
  needs: askNeeds,
  async handle({ input, record, caller, signal }, { catalog, inference, meter }) {
    const provider = pinned(input.provider)
    const extra = membersBeyond(input, fields)
    const entry = embedding(await servedModel(catalog, caller, input.model, 'embed', signal), input)
    const reservation = await meter.reserve(
      caller,
      entry,
      { input: sizeOf(input), output: 0, user: userOf(input) },
      record,
    )
    const running = embed(inference, input, { entry, provider, extra, request: record.id }, signal)
    const made = await settled(reservation, running, countedOf)
    return text(await printEmbedded(made, input, entry.name), undefined, 200, reservation.headers)
  },
})
