import * as v from 'valibot'
import { mayUse } from '../../../core/access/caller.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { json } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { isListed, catalogEntryOf, listedTypes } from '../../shared/models/listed-model.ts'
import { modelEntry } from '../shared/model-entry.ts'

const list = route({
  method: 'GET',
  path: '/std/models',
  summary: 'Lists the models that the key may use in the clear.',
  access: { scope: 'models.read' },
  query: v.object({ type: v.optional(v.picklist(listedTypes)) }),
  answer: v.object({ object: v.literal('list'), data: v.array(modelEntry) }),
  needs: { catalog: Catalog },
  async handle({ caller, query: { type }, signal }, { catalog }) {
    const all = await catalog.list(signal)
    // A turn of the loop makes one list: thousands of models take milliseconds.
    await freeTurn()
    const entries = all.filter(
      (entry) =>
        isListed(entry, 'standard') &&
        mayUse(caller, entry.name) &&
        (type === undefined || entry.settings.type === type),
    )
    return json({ object: 'list', data: entries.map((entry) => catalogEntryOf(entry, 'standard')) })
  },
})

/** A model that the key may not use is left out of the list. */
export const modelRoutes = [list] as const
