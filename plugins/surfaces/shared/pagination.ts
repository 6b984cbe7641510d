import * as v from 'valibot'

/** A whole number of a query, which comes as text; the reference tells the number. */
const digits = (least: number, most: number, usual: number) => {
  const isFit = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
  const number = v.pipe(v.string(), v.check(isFit, `a number from ${least} to ${most}`), v.transform(Number))
  const shown = { type: 'integer', minimum: least, maximum: most, default: usual }
  return v.pipe(v.optional(number, String(usual)), v.metadata(shown))
}

/** The query fields of every list that comes in pages. */
export const pageQuery = {
  limit: digits(1, 100, 20),
  offset: digits(0, 999_999_999, 0),
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
