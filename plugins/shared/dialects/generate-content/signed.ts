import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** A thought's signature where the common format carries it; nothing where there is none. */
export const signed = (signature: unknown): JsonObject =>
  typeof signature === 'string' ? { extra_content: { google: { thought_signature: signature } } } : {}
