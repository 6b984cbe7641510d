import * as v from 'valibot'

/** A setting: where a backend is, without a slash at the end. */
export const BaseUrl = v.pipe(
  v.string(),
  v.regex(/^https?:\/\//, 'an address that begins with http:// or https://'),
  v.url('an address that begins with http:// or https://'),
  v.transform((url) => url.replace(/(?<!\/)\/+$/, '')),
)
