import * as v from 'valibot'

const digits = (message: string) => v.pipe(v.string(), v.regex(/^\d{1,9}$/, message), v.transform(Number))

/** The query fields of every list that comes in pages. */
export const pageQuery = {
  limit: v.optional(v.pipe(digits('a number from 1 to 100'), v.minValue(1), v.maxValue(100)), '20'),
  offset: v.optional(digits('a number from 0'), '0'),
}

/** Where a page stands among all. */
export const pageOfList = v.object({ limit: v.number(), offset: v.number(), total: v.number(), has_more: v.boolean() })

/**
 * `count` is the number of rows on this page. `has_more` rests on `total`, which some lists stop counting
 * early.
 */
export const placeOf = (
  { limit, offset }: { readonly limit: number; readonly offset: number },
  count: number,
  total: number,
): v.InferOutput<typeof pageOfList> => ({ limit, offset, total, has_more: offset + count < total })
