import { json } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { listing, usable, usedBy } from '../shared/usable-models.ts'
import { asGoogle, googleFaults } from './dialect-route.ts'

const asGoogleModel = ({ name, settings, does }: Entry) => ({
  name: `models/${name}`,
  baseModelId: name,
  version: '1',
  displayName: settings.name ?? name,
  description: settings.description,
  supportedGenerationMethods: does.has('chat') ? ['generateContent', 'streamGenerateContent', 'countTokens'] : [],
})

const list = route({
  ...listing,
  path: '/v1beta/models',
  summary: 'Lists the models that the key may use, in the Gemini dialect.',
  errors: asGoogle,
  faults: googleFaults,
  handle: async (asked, { catalog }) => json({ models: (await usable(asked, catalog)).map(asGoogleModel) }),
})

const one = route({
  ...listing,
  path: '/v1beta/models/{model}',
  summary: 'Describes a model in the Gemini dialect.',
  errors: asGoogle,
  faults: googleFaults,
  handle: async (asked, { catalog }) => json(asGoogleModel(await usedBy(asked, asked.params.model, catalog))),
})

export const models = [list, one] as const
