import * as v from 'valibot'
import { scopes } from '../../../core/access/caller.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { Settings } from '../../../core/settings.ts'
import { priceSettings } from '../../shared/prices.ts'

const pricing = lazy(() => import('../../usage/metering/prices.ts'))

const read = route({
  method: 'GET',
  path: '/admin/self',
  summary: 'Who the caller is and what its key may do.',
  access: 'any-key',
  answer: enveloped(
    v.object({
      key: v.string(),
      organization: v.string(),
      user: v.string(),
      team: v.nullable(v.string()),
      scopes: v.array(v.picklist(scopes)),
      models: v.nullable(v.array(v.string())),
      operator: v.boolean(),
      /** Three letters; null where nobody says. */
      currency: v.nullable(v.string()),
    }),
  ),
  needs: { settings: Settings },
  async handle({ caller: { key, organization, user, team = null, scopes, models } }, { settings }) {
    const operator = settings.operators.includes(organization)
    const { areDollars } = await pricing()
    const currency = areDollars(settings) ? 'USD' : (priceSettings.of(settings).currency ?? null)
    return data({ key, organization, user, team, scopes, models, operator, currency })
  },
})

/** Any key may ask, so that a client finds out about itself without a scope. */
export const selfRoutes = [read] as const
