import * as v from 'valibot'
import { enveloped } from '../http/envelope.ts'
import { data } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { usages, type UsageRow } from '../inference/metering/ledger.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { Settings } from '../settings.ts'
import { isDay, inDateRange } from './date-range.ts'
import { pageQuery, pageOfList, placeOf } from './pagination.ts'
import { organizationFor, rowsOf, whose } from './whose.ts'

const date = v.optional(v.pipe(v.string(), v.check(isDay, 'a date such as 2030-01-31')))

const id = v.optional(v.pipe(v.string(), v.maxLength(128)))

const count = v.number()

const place = {
  organization: v.string(),
  key: v.string(),
  /** Null for rows that are older than users in usage. */
  user: v.nullable(v.string()),
  team: v.nullable(v.string()),
  day: v.string(),
  model: v.string(),
}

const totals = {
  requests: count,
  input: count,
  output: count,
  reasoning: count,
  cached: count,
  audio_seconds: count,
  estimated: count,
  unanswered: count,
  unpriced: count,
  /** Null when the price of no request is known. */
  cost: v.nullable(count),
  /** Part of the cost whose counts are partly a guess. */
  estimated_cost: count,
}

const read = route({
  method: 'GET',
  path: '/admin/usage',
  summary:
    'What the keys of the caller’s organisation used, by key, day and model; for operators that of any organisation.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({ ...pageQuery, ...whose, from: date, to: date, key: id, user: id, team: id }),
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
    const found = await rows.list(usages, {
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

const printed = ({
  organization,
  key,
  user,
  team,
  day,
  model,
  requests = 0,
  unanswered = 0,
  unpriced = 0,
  ...row
}: UsageRow) => ({
  organization,
  key,
  user: user ?? null,
  team: team ?? null,
  day,
  model,
  requests,
  input: row.input ?? 0,
  output: row.output ?? 0,
  reasoning: row.reasoning ?? 0,
  cached: row.cached ?? 0,
  audio_seconds: row.audio_seconds ?? 0,
  estimated: row.estimated ?? 0,
  unanswered,
  unpriced,
  estimated_cost: (row.estimated_cost_micros ?? 0) / 1e6,
  cost: requests > 0 && unpriced + unanswered === requests ? null : (row.cost_micros ?? 0) / 1e6,
})

export const usageRoutes = [read] as const
