import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** Absent means the default, null means no limit. */
export const limit = (byDefault: number) => v.optional(v.nullable(count), byDefault)

/** In the currency of the prices. */
const money = v.pipe(v.number(), v.gtValue(0))
const budget = v.optional(v.nullable(money), null)
export const budgets = { costPerDay: budget, costPerWeek: budget, costPerMonth: budget }

export const holders = ['key', 'organization', 'gateway'] as const

/** Of a key or of an organisation, with their defaults. */
export const limits = (requests: number, concurrent: number, minute: number, bytes: number) =>
  v.optional(
    v.strictObject({
      requestsPerSecond: limit(requests),
      /** Of request bodies, refused ones too. */
      bytesPerMinute: limit(bytes),
      concurrentRequests: limit(concurrent),
      tokensPerMinute: limit(minute),
      tokensPerDay: v.optional(v.nullable(count), null),
      audioMinutesPerDay: v.optional(v.nullable(count), null),
      ...budgets,
    }),
    {},
  )

export const ownLimit = v.exactOptional(v.nullable(count))
const ownBudget = v.exactOptional(v.nullable(money))

/** What differs from the defaults for one key or one organisation. */
export const OwnLimits = v.strictObject({
  requestsPerSecond: ownLimit,
  bytesPerMinute: ownLimit,
  concurrentRequests: ownLimit,
  tokensPerMinute: ownLimit,
  tokensPerDay: ownLimit,
  audioMinutesPerDay: ownLimit,
  costPerDay: ownBudget,
  costPerWeek: ownBudget,
  costPerMonth: ownBudget,
})
