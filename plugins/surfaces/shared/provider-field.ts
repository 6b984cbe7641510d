import * as v from 'valibot'

const name = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'up to 64 lower-case letters, digits and hyphens'))

/** The field that pins a request to one of the model's backends. */
export const provider = v.nullish(name)

/** The same field where backends may have one of that name: an object is no pin, and theirs. */
export const anyProvider = v.nullish(v.union([name, v.record(v.string(), v.unknown())]))

/** Who is pinned, and what goes on to the backend as its own `provider`. */
export const pinned = (
  body: v.InferOutput<typeof anyProvider>,
): { readonly provider: string | null; readonly routing: { readonly provider?: object } } =>
  typeof body === 'object' && body !== null
    ? { provider: null, routing: { provider: body } }
    : { provider: body ?? null, routing: {} }
