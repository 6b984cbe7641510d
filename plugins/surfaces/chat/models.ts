import * as v from 'valibot'
import { json } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { lazy } from '../../../core/plugin.ts'
import { isListed, catalogEntryOf, listedTypes } from '../../shared/models/listed-model.ts'
import { ModelRules } from '../../shared/rules/rules.ts'
import { modelEntry } from '../shared/model-entry.ts'

const finding = lazy(() => import('../shared/usable-models.ts'))

const list = route({
  method: 'GET',
  path: '/std/models',
  summary: 'Lists the models that the key may use in the clear.',
  access: { scope: 'models.read' },
  query: v.object({ type: v.optional(v.picklist(listedTypes)) }),
  answer: v.object({ object: v.literal('list'), data: v.array(modelEntry) }),
  needs: { catalog: Catalog, rules: ModelRules },
  async handle(request, listed) {
    const { type } = request.query
    const { usable } = await finding()
    const entries = (await usable(request, listed)).filter(
      (entry) => isListed(entry, 'standard') && (type === undefined || entry.settings.type === type),
    )
    return json({ object: 'list', data: entries.map((entry) => catalogEntryOf(entry, 'standard')) })
  },
})

/** A model that the key may not use is left out of the list. */
export const modelRoutes = [list] as const
