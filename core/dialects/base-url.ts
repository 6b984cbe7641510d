import * as v from 'valibot'

/** A setting: where a backend is, without a slash at the end. */
export const BaseUrl = v.pipe(
  v.string(),
  v.regex(/^https?:\/\//),
  v.url(),
  v.transform((url) => url.replace(/\/+$/, '')),
)
