import type { Actor } from '../access/audit.ts'
import type { Caller } from '../access/caller.ts'

/** The caller, as the audit knows it. */
export const actorOf = (request: string, { key, organization, user }: Caller): Actor => ({
  key,
  organization,
  user,
  request,
})
