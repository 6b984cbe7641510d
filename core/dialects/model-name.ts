import * as v from 'valibot'

/** What callers send for a model: its name, or the whole number that a catalog gives as its `id`. */
export const ModelName = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))]),
  v.transform(String),
  v.minLength(1),
  v.maxLength(256),
)
