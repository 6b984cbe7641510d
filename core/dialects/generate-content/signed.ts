import type { Fields } from '../fields.ts'

/** A thought's signature where the common format carries it; nothing where there is none. */
export const signed = (signature: unknown): Fields =>
  typeof signature === 'string' ? { extra_content: { google: { thought_signature: signature } } } : {}
