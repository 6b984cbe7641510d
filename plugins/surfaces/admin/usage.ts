import * as v from 'valibot'
import { enveloped, data, text } from '../../../core/http/reply.ts'
import { reportsOf } from '../../usage/listed-reports.ts'
import { route } from '../../../core/http/route.ts'
import { usages, type UsageRow } from '../../usage/usage-rows.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Settings } from '../../../core/settings.ts'
import { dateShape, inDateRange } from '../shared/date-range.ts'
import { pageQuery, pageOfList, placeOf } from '../shared/pagination.ts'
import { printedCounts, totals } from './usage-counts.ts'
import { organizationFor, rowsOf, whose } from './whose.ts'
import { dayOf } from '../../usage/late-days.ts'
import { dayAfter } from '../../usage/spans.ts'
import { groupings } from '../../usage/sum-tables.ts'
import { type UsageSum, UsageSums } from '../../usage/usage-sums.ts'
import { lazy } from '../../../core/plugin.ts'
import { Clock } from '../../../core/ports/platform.ts'

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

const printing = lazy(() => import('./csv.ts'))

/** Days that are summed where the caller names none. */
const usualDays = 30
/** Sums in one answer, by its format. */
const most = { json: 1_000, csv: 10_000 } as const

const count = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, 'a number from 1 to 1000'),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(most.json),
)

/** Pages go by names and not by numbers, so counts that arrive between two pages move nothing. */
const sums = route({
  method: 'GET',
  path: '/admin/usage/sums',
  summary: 'Sums of what the caller’s organisation used, as JSON or CSV; for operators those of any organisation.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({
    ...whose,
    by: v.optional(v.picklist(groupings), 'day'),
    from: dateShape,
    to: dateShape,
    after: v.optional(v.pipe(v.string(), v.maxLength(512))),
    limit: v.optional(count, '100'),
    format: v.optional(v.picklist(['json', 'csv']), 'json'),
  }),
  answer: enveloped(
    v.object({
      by: v.picklist(groupings),
      from: v.string(),
      to: v.string(),
      /** Null for keys without a team, and the like. */
      sums: v.array(v.object({ name: v.nullable(v.string()), ...totals })),
      /** The name after which the next page begins; null on the last one. */
      next: v.nullable(v.string()),
    }),
  ),
  needs: { sums: UsageSums, settings: Settings, clock: Clock },
  async handle({ caller, query }, { sums, settings, clock }) {
    const { by, after, format } = query
    const to = query.to ?? dayOf(clock.now())
    const from = query.from ?? dayAfter(to, 1 - usualDays)
    const organization = organizationFor(caller, query.organization, settings)
    const limit = format === 'csv' ? most.csv : query.limit
    const question = { by, organization, from, to, ...(after !== undefined && { after }) }
    // One name more tells whether there is a next page.
    const found = await sums.ask({ ...question, limit: limit + 1 })
    const page = found.slice(0, limit).map(printedSum)
    const next = found.length > limit ? (page.at(-1)?.name ?? null) : null
    if (format === 'json') return data({ by, from, to, sums: page, next })
    const { csvOf } = await printing()
    const head = [by, ...Object.keys(totals)]
    return text(
      `${csvOf(
        head,
        page.map((row) => Object.values(row)),
      )}\r\n`,
      'text/csv; charset=utf-8',
      200,
      {
        'content-disposition': `attachment; filename="usage-by-${by}-${from}-${to}.csv"`,
        ...(next !== null && { 'x-sealgate-next': encodeURIComponent(next) }),
      },
    )
  },
})

const printedSum = ({ name, counts }: UsageSum) => ({ name: name === '' ? null : name, ...printedCounts(counts) })

/** Rows tell each key, day and model; sums are for reports over many of them. */
export const usageRoutes = [read, sums] as const
