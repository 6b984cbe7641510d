import { mayUse, type Caller } from '../../../core/access/caller.ts'
import { BadRequest, NotFound, Unavailable, type GatewayError } from '../../../core/errors.ts'
import type { Catalog } from '../../../core/inference/models/catalog.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'
import type { Ability, Entry } from '../../../core/inference/models/catalog-entry.ts'

/** The model that a caller of the standard routes asks for; throws when there is none that may serve it so. */
export const servedModel = async (
  catalog: Catalog,
  caller: Caller,
  model: string,
  ability: Ability,
  signal: AbortSignal,
): Promise<Entry> => {
  const entry = await catalog.find(model, signal, ability)
  if (!entry || !mayUse(caller, entry.name)) throw unknownModel(catalog, caller, model)
  if (!entry.settings.standard) {
    throw new BadRequest('The model is available for encrypted inference only', {
      validator: { model: 'expected a model of the standard catalog' },
    })
  }
  if (!entry.does.has(ability)) {
    throw new BadRequest('The model does not serve this route', { validator: { model: expected[ability] } })
  }
  return entry
}

/** What a model has to take for parts of these types. */
const modalities: Readonly<Record<string, string>> = { image_url: 'image', video_url: 'video' }

/** The first part that the model does not take, where it is known what it takes; null for none. */
export const unseenPart = (
  { settings: { input_modalities: takes } }: Entry,
  { messages }: ChatBody,
): { readonly path: string; readonly modality: string } | null => {
  if (takes === undefined) return null
  for (const [turn, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [at, { type }] of content.entries()) {
      const modality = modalities[type]
      if (modality !== undefined && !takes.includes(modality))
        return { path: `messages.${turn}.content.${at}`, modality }
    }
  }
  return null
}

/** Throws BadRequest for an image or a video before a model that takes none. */
export const refuseUnseen = (entry: Entry, body: ChatBody): void => {
  const unseen = unseenPart(entry, body)
  if (unseen === null) return
  const { path, modality } = unseen
  throw new BadRequest('Validation failed', {
    validator: { [path]: `Expected no ${modality}: the model takes ${entry.settings.input_modalities?.join(', ')}` },
    code: 'unsupported_modality',
  })
}

/** A provider that does not tell its models may have this one; why it doesn't is the operator's matter. */
export const unknownModel = (catalog: Catalog, caller: Caller, model: string): GatewayError =>
  catalog.isWhole() || !mayUse(caller, model)
    ? new NotFound('The model does not exist or the key may not use it', { code: 'model_not_found' })
    : new Unavailable('The model list is not known yet', { retryAfter: 5_000 })

const expected: Readonly<Record<Ability, string>> = {
  chat: 'expected a chat model',
  decide: 'expected a model that decides',
  transcribe: 'expected a transcription model',
  speak: 'expected a speech model',
  draw: 'expected an image model',
  embed: 'expected an embedding model',
}
