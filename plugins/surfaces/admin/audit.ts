import * as v from 'valibot'
import { actorOf, Audit, type AuditRow, outcomes } from '../../../core/access/audit.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Reload } from '../../../core/generations/reload.ts'
import { Settings } from '../../../core/settings.ts'
import { momentShape, inDateRange } from '../shared/date-range.ts'
import { pageQuery, pageOfList, placeOf } from '../shared/pagination.ts'
import { organizationFor, rowsOf, whose } from './whose.ts'

/** Acts that are recorded; the reference lists them. */
const actions = [
  'key.create',
  'key.update',
  'key.revoke',
  'team.create',
  'team.update',
  'team.close',
  'session.open',
  'reload',
  'configuration.check',
  'backend.ask',
  'backend.rest',
  'backend.wake',
  'drill',
] as const

const act = v.object({
  id: v.string(),
  at: v.number(),
  organization: v.string(),
  /** A key’s id, or `command` or `signal` for the operator of the machine. */
  actor: v.string(),
  user: v.nullable(v.string()),
  action: v.picklist(actions),
  /** The id of what it was done to. */
  object: v.nullable(v.string()),
  request: v.nullable(v.string()),
  outcome: v.picklist(outcomes),
})

const read = route({
  method: 'GET',
  path: '/admin/audit',
  summary:
    'The administrative acts of the caller’s organisation, newest first; for operators those of any organisation.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({
    ...pageQuery,
    ...whose,
    from: v.optional(momentShape(false)),
    to: v.optional(momentShape(true)),
  }),
  answer: enveloped(v.object({ acts: v.array(act), pagination: pageOfList })),
  needs: { audit: Audit, settings: Settings },
  async handle({ caller, query }, { audit, settings }) {
    const { from, to, limit, offset } = query
    const { rows, total } = await audit.list({
      ...rowsOf(organizationFor(caller, query.organization, settings), query),
      ...inDateRange<AuditRow>('at', from, to),
      order: { by: 'at', descending: true },
      limit,
      offset,
    })
    const acts = rows.map(({ id, row }) => ({ id, ...row }))
    return data({ acts, pagination: placeOf({ limit, offset }, acts.length, total) })
  },
})

const reload = route({
  method: 'POST',
  path: '/admin/reload',
  summary:
    'Reads the configuration again, for all requests that begin afterwards. If something in it is wrong, nothing changes.',
  access: { scope: 'api_key.update', operators: true },
  needs: { reload: Reload },
  async handle({ id, caller }, { reload }) {
    await reload(actorOf(id, caller))
    return data(null, 'Configuration reloaded')
  },
})

/** The audit has no route that changes or removes a row. */
export const auditRoutes = [read, reload] as const
