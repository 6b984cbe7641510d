import * as v from 'valibot'
import { lazy, plugin } from '../../core/plugin.ts'
import { Quotas } from './quotas/port.ts'
import { section } from '../../core/ports/section.ts'
import { Settings } from '../../core/settings.ts'

const windowing = lazy(() => import('./quotas/windows.ts'))

const count = v.pipe(v.number(), v.integer(), v.minValue(1))
const units = ['requests', 'tokens', 'cost'] as const

const row = v.pipe(
  v.strictObject({
    /** Who shares the window. */
    of: v.picklist(['endUser', 'key', 'team', 'organization', 'gateway']),
    /** The only key that it holds for, by its id. */
    key: v.optional(v.string()),
    /** The only model that it holds for. */
    model: v.optional(v.string()),
    requests: v.optional(count),
    tokens: v.optional(count),
    /** In the currency of the prices. */
    cost: v.optional(v.pipe(v.number(), v.finite('a finite number'), v.gtValue(0))),
    per: v.picklist(['minute', 'hour', 'day', 'week', 'month']),
  }),
  v.check(
    (given) => units.filter((unit) => given[unit] !== undefined).length === 1,
    'one of requests, tokens and cost',
  ),
  v.check(({ of, key }) => key === undefined || of === 'key', 'key beside "of": "key" alone'),
)

const placeOf = (given: v.InferOutput<typeof row>): string =>
  JSON.stringify([given.of, given.key, given.model, given.per, units.find((unit) => given[unit] !== undefined)])

const shape = v.optional(
  v.pipe(
    v.strictObject({
      windows: v.optional(
        v.pipe(
          v.array(row),
          v.maxLength(1_000),
          v.check((rows) => new Set(rows.map(placeOf)).size === rows.length, 'each window once'),
        ),
        [],
      ),
      /** What names of end users are hashed with; all processes share it. */
      userSecret: v.optional(v.pipe(v.string(), v.minLength(32))),
    }),
    v.check(
      ({ windows, userSecret }) => userSecret !== undefined || windows.every(({ of }) => of !== 'endUser'),
      'userSecret beside windows of endUser',
    ),
  ),
  {},
)

/** Windows of the calendar, and the secret of end users. */
export const quotaSettings = section('quotas', shape, {
  models: ({ windows }) => windows.map(({ model }, at) => [`quotas.windows.${at}.model`, model] as const),
})

/** Several windows at once, by end user, key, team, organisation and model. */
export const quotas = plugin({
  port: Quotas,
  name: 'quotas',
  renewed: true,
  sections: [quotaSettings],
  needs: { settings: Settings },
  create: ({ settings }): Quotas => ({
    async load() {
      const quotas = quotaSettings.of(settings)
      return quotas.windows.length === 0 ? null : (await windowing()).windowsOf(quotas, settings.limits.timeZone)
    },
  }),
})
