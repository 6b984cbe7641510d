import * as v from 'valibot'
import type { Query } from '../../../core/ports/metadata-store.ts'

const day = 86_400_000

/** Whether there is such a day. */
const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text)
}

/** A day of a query; undefined when absent. */
export const dateShape = v.optional(v.pipe(v.string(), v.check(isDay, 'a date such as 2030-01-31')))

/** A day or a moment; the end of a span of days is the end of its last one. */
export const momentShape = (end: boolean) =>
  v.pipe(
    v.string(),
    v.check((text) => isDay(text.slice(0, 10)), 'an ISO 8601 date'),
    v.regex(/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/, 'an ISO 8601 date'),
    v.transform((text) => {
      const whole = text.length === 10
      const zoned = whole || /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`
      return Date.parse(zoned) + (whole && end ? day - 1 : 0)
    }),
    v.check((time) => Number.isFinite(time), 'an ISO 8601 date'),
  )

/** The part of a query that keeps a field within a span; nothing where neither end is given. */
export const inDateRange = <T>(
  field: keyof T & string,
  from: string | number | undefined,
  to: string | number | undefined,
): Pick<Query<T>, 'between'> =>
  from === undefined && to === undefined
    ? {}
    : { between: { field, ...(from !== undefined && { from }), ...(to !== undefined && { to }) } }
