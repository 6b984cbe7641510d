import { json } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { lazy } from '../../../core/plugin.ts'
import { listing } from '../shared/dialect-route.ts'
import { asGoogle, googleFaults } from './dialect-route.ts'

const finding = lazy(() => import('../shared/usable-models.ts'))

/** A model is listed with what it can do, so that clients offer nothing else. */
const asGoogleModel = ({ name, settings, does }: Entry) => ({
  name: `models/${name}`,
  baseModelId: name,
  version: '1',
  displayName: settings.name ?? name,
  description: settings.description,
  supportedGenerationMethods: [
    ...(does.has('chat') ? ['generateContent', 'streamGenerateContent', 'countTokens'] : []),
    ...(does.has('embed') ? ['embedContent', 'batchEmbedContents'] : []),
  ],
})

const list = route({
  ...listing,
  path: '/v1beta/models',
  summary: 'Lists the models that the key may use, in the Gemini dialect.',
  errors: asGoogle,
  faults: googleFaults,
  async handle(request, listed) {
    const { usable } = await finding()
    return json({ models: (await usable(request, listed)).map(asGoogleModel) })
  },
})

const one = route({
  ...listing,
  path: '/v1beta/models/{model}',
  summary: 'Describes a model in the Gemini dialect.',
  errors: asGoogle,
  faults: googleFaults,
  async handle(request, listed) {
    const { usedBy } = await finding()
    return json(asGoogleModel(await usedBy(request, request.params.model, listed)))
  },
})

/** The list has no pages: clients get all models that the key may use. */
export const models = [list, one] as const
