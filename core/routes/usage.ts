import * as v from 'valibot'
import { enveloped } from '../http/envelope.ts'
import { data } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { usages, type UsageRow } from '../inference/metering/ledger.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { isDay, within } from './date-range.ts'
import { page, paged, placeOf } from './pagination.ts'

const date = v.optional(v.pipe(v.string(), v.check(isDay, 'a date such as 2030-01-31')))

const count = v.number()

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
  summary: 'What the keys of the caller’s organisation used, by key, day and model.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({ ...page, from: date, to: date, key: v.optional(v.pipe(v.string(), v.maxLength(128))) }),
  answer: enveloped(
    v.object({
      usage: v.array(v.object({ key: v.string(), day: v.string(), model: v.string(), ...totals })),
      pagination: paged,
    }),
  ),
  needs: { rows: MetadataStore },
  async handle({ caller: { organization }, query: { from, to, key, limit, offset } }, { rows }) {
    const found = await rows.list(usages, {
      where: { organization, ...(key !== undefined && { key }) },
      ...within<UsageRow>('day', from, to),
      order: { by: 'day', descending: true },
      limit,
      offset,
    })
    const pagination = placeOf({ limit, offset }, found.rows.length, found.total)
    return data({ usage: found.rows.map(({ row }) => printed(row)), pagination })
  },
})

const printed = ({ key, day, model, requests = 0, unanswered = 0, unpriced = 0, ...row }: UsageRow) => ({
  key,
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

export const usage = [read] as const
