import * as v from 'valibot'

/** The field that pins a request to one of the model's backends. */
export const provider = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z0-9][a-z0-9-]*$/))))
