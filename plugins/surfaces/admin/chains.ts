import * as v from 'valibot'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { modelTypes } from '../../../core/settings.ts'
import { pageOfList, pageQuery, placeOf } from '../shared/pagination.ts'

const link = v.object({
  backend: v.string(),
  model: v.string(),
  priority: v.number(),
  weight: v.number(),
  context_tokens: v.nullable(v.number()),
})

const list = route({
  method: 'GET',
  path: '/admin/models',
  summary: 'The chain of each model: its backends in the order in which they are asked, with their weights.',
  access: { scope: 'api_key.read', operators: true },
  query: v.strictObject(pageQuery),
  answer: enveloped(
    v.object({
      models: v.array(
        v.object({
          model: v.string(),
          type: v.picklist(modelTypes),
          standard: v.boolean(),
          confidential: v.boolean(),
          chain: v.array(link),
        }),
      ),
      pagination: pageOfList,
    }),
  ),
  needs: { catalog: Catalog },
  async handle({ query: { limit, offset }, signal }, { catalog }) {
    const all = await catalog.list(signal)
    const models = all
      .slice(offset, offset + limit)
      .map(({ name, settings: { type, standard, confidential }, candidates }) => ({
        model: name,
        type,
        standard,
        confidential,
        chain: candidates.map(({ provider, model, priority, weight, context }) => ({
          backend: provider,
          model,
          priority,
          weight,
          context_tokens: context,
        })),
      }))
    return data({ models, pagination: placeOf({ limit, offset }, models.length, all.length) })
  },
})

/** The chain of a model tells no address, key or price of a backend. */
export const chainRoutes = [list] as const
