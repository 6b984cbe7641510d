import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** Absent means the default, null means no limit. */
export const limit = (byDefault: number) => v.optional(v.nullable(count), byDefault)

/** In the currency of the prices. */
const money = v.pipe(v.number(), v.finite('a finite number'), v.gtValue(0))
const budget = v.optional(v.nullable(money), null)
/** Budgets of a day, a week and a month. Null, the default, means no budget. */
export const budgets = { costPerDay: budget, costPerWeek: budget, costPerMonth: budget }

/** Who may hold a budget, from the narrowest to the widest. */
export const holders = ['key', 'team', 'organization', 'gateway'] as const

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

/**
 * Absent keeps the limit of the configuration, null takes the limit away. A default would hide that
 * difference.
 */
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

/** What differs from the defaults for one team. */
export const OwnBudgets = v.strictObject({ costPerDay: ownBudget, costPerWeek: ownBudget, costPerMonth: ownBudget })

/** A web address without a name and a password in it. */
const isAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** The receiver of messages about reached shares of budgets. */
export const Webhook = v.strictObject({
  url: v.pipe(v.string(), v.check(isAddress, 'an http or https URL')),
  /** `whsec_` and 24 to 64 bytes in base64. */
  secret: v.pipe(v.string(), v.regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, 'whsec_ and 24 bytes or more in base64')),
})

/** The receiver after the check. */
export type Webhook = v.InferOutput<typeof Webhook>
