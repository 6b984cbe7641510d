import type { Caller } from '../../../core/access/caller.ts'
import type { Grant } from '../../../core/ports/enclave.ts'

/** What the enclave may do for this call. */
export const grantOf = (id: string, caller: Caller, full?: Grant['full']): Grant => ({
  request: id,
  organization: caller.organization,
  user: caller.user,
  key: caller.key,
  models: caller.models,
  ...(full && { full }),
})
