import * as v from 'valibot'
import { enveloped, data } from '../../../core/http/reply.ts'
import { reportsOf } from '../../usage/listed-reports.ts'
import { route } from '../../../core/http/route.ts'
import { usages, type UsageRow } from '../../usage/usage-rows.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Settings } from '../../../core/settings.ts'
import { dateShape, inDateRange } from '../shared/date-range.ts'
import { pageQuery, pageOfList, placeOf } from '../shared/pagination.ts'
import { printedCounts, totals } from './usage-counts.ts'
import { usageSumRoutes } from './usage-sums.ts'
import { organizationFor, rowsOf, whose } from './whose.ts'

const id = v.optional(v.pipe(v.string(), v.maxLength(128)))

const place = {
  organization: v.string(),
  key: v.string(),
  /** Null for rows that are older than users in usage. */
  user: v.nullable(v.string()),
  team: v.nullable(v.string()),
  day: v.string(),
  model: v.string(),
}

const read = route({
  method: 'GET',
  path: '/admin/usage',
  summary:
    'What the keys of the caller’s organisation used, by key, day and model; for operators that of any organisation.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({ ...pageQuery, ...whose, from: dateShape, to: dateShape, key: id, user: id, team: id }),
  answer: enveloped(
    v.object({
      usage: v.array(v.object({ ...place, ...totals })),
      pagination: pageOfList,
    }),
  ),
  needs: { rows: MetadataStore, settings: Settings },
  async handle({ caller, query }, { rows, settings }) {
    const { from, to, key, user, team, limit, offset } = query
    const { where, ...rest } = rowsOf(organizationFor(caller, query.organization, settings), query)
    const parts = Object.entries({ key, user, team }).filter(([, value]) => value !== undefined)
    const found = await reportsOf(rows).list(usages, {
      ...rest,
      where: { ...where, ...Object.fromEntries(parts) },
      ...inDateRange<UsageRow>('day', from, to),
      order: { by: 'day', descending: true },
      limit,
      offset,
    })
    const pagination = placeOf({ limit, offset }, found.rows.length, found.total)
    return data({ usage: found.rows.map(({ row }) => printed(row)), pagination })
  },
})

const printed = ({ organization, key, user, team, day, model, ...counts }: UsageRow) => ({
  ...{ organization, key, user: user ?? null, team: team ?? null, day, model },
  ...printedCounts(counts),
})

/** Rows tell each key, day and model; sums are for reports over many of them. */
export const usageRoutes = [read, ...usageSumRoutes] as const
