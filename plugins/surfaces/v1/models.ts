import * as v from 'valibot'
import { json } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { lazy } from '../../../core/plugin.ts'
import { listing, messagesFaults, openaiFaults } from '../shared/dialect-route.ts'
import { asSpoken, speaksMessages } from './dialect-route.ts'

const finding = lazy(() => import('../shared/usable-models.ts'))

const spoken = {
  ...listing,
  errors: asSpoken,
  faults: { default: v.pipe(v.union([openaiFaults.default, messagesFaults.default]), v.title('SpokenError')) },
  // Anthropic's clients read the id of a request there.
  headers: { 'request-id': '{id}' },
} as const

const asOpenaiModel = ({ name, settings, candidates }: Entry) => ({
  id: name,
  object: 'model',
  created: settings.created,
  owned_by: settings.owned_by ?? candidates[0]?.provider ?? '',
})

const asMessagesModel = ({ name, settings }: Entry) => ({
  type: 'model',
  id: name,
  display_name: settings.name ?? name,
  created_at: new Date(settings.created * 1000).toISOString(),
})

const list = route({
  ...spoken,
  path: '/v1/models',
  summary: 'Lists the models that the key may use, in the shape of the caller’s dialect.',
  async handle(request, listed) {
    const { usable } = await finding()
    const entries = await usable(request, listed)
    if (!speaksMessages(request.headers)) return json({ object: 'list', data: entries.map(asOpenaiModel) })
    const data = entries.filter(({ does }) => does.has('chat')).map(asMessagesModel)
    return json({ data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null })
  },
})

const one = route({
  ...spoken,
  path: '/v1/models/{model}',
  summary: 'Describes a model, in the shape of the caller’s dialect.',
  async handle(request, listed) {
    const { usedBy } = await finding()
    const entry = await usedBy(request, request.params.model, listed)
    return json((speaksMessages(request.headers) ? asMessagesModel : asOpenaiModel)(entry))
  },
})

/** One address serves two dialects; the header `anthropic-version` tells them apart. */
export const models = [list, one] as const
