import * as v from 'valibot'

/** The field that pins a request to one of the model's backends; an empty one pins none. */
export const provider = v.nullish(
  v.pipe(
    v.string(),
    v.maxLength(64),
    v.regex(/^(?:[a-z0-9][a-z0-9-]*)?$/, 'lower-case letters, digits and hyphens'),
    v.transform((name) => (name === '' ? null : name)),
  ),
)
