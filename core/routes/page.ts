import * as v from 'valibot'

const digits = (message: string) => v.pipe(v.string(), v.regex(/^\d{1,9}$/, message), v.transform(Number))

/** The query fields of every list that comes in pages. */
export const page = {
  limit: v.optional(v.pipe(digits('a number from 1 to 100'), v.minValue(1), v.maxValue(100)), '20'),
  offset: v.optional(digits('a number from 0'), '0'),
}
