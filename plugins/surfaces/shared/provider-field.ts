import * as v from 'valibot'
import { ChatRequest } from '../../../core/dialects/chat-completions.ts'

const name = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'up to 64 lower-case letters, digits and hyphens'))

/** The field that pins a request to one of the model's backends. */
export const provider = v.nullish(name)

/** The same field where backends may have one of that name: an object is no pin, and theirs. */
export const anyProvider = ChatRequest.entries.provider

type Provider = v.InferOutput<typeof anyProvider>

/** The backend that the caller pins; null leaves the choice to the router. */
export const pinned = (provider: Provider): string | null => (typeof provider === 'string' ? provider : null)

/** The members for the backend. Members of `read` stay with the gateway, and so does a `provider` that pins. */
export const membersBeyond = (
  body: object & { readonly provider?: Provider },
  read: object,
): Readonly<Record<string, unknown>> => {
  const members: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) if (!Object.hasOwn(read, name)) members[name] = value
  if (typeof body.provider === 'object' && body.provider !== null) members['provider'] = body.provider
  return members
}
