import * as v from 'valibot'
import { scopes } from '../access/caller.ts'
import { enveloped } from '../http/envelope.ts'
import { data } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Settings } from '../settings.ts'

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
    }),
  ),
  needs: { settings: Settings },
  handle({ caller: { key, organization, user, team = null, scopes, models } }, { settings: { operators } }) {
    return data({ key, organization, user, team, scopes, models, operator: operators.includes(organization) })
  },
})

/** Any key may ask, so that a client finds out about itself without a scope. */
export const selfRoutes = [read] as const
