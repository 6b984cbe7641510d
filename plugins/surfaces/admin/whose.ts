import * as v from 'valibot'
import type { Caller } from '../../../core/access/caller.ts'
import { type KeyRow, lives } from '../../../core/access/key-row.ts'
import type { Keyring } from '../../../core/access/keyring.ts'
import { Forbidden, Unauthorized } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { Settings } from '../../../core/settings.ts'

/** Stands for all organisations. */
const all = '*'

/** Rows of all organisations are counted up to this many behind the page. */
const counted = 10_000

/** The query field of lists that operators read across organisations. */
export const whose = { organization: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))) }

/** The organisation whose rows are read; null for all. Throws Forbidden when only operators may read them. */
export const organizationFor = (
  { organization: own }: Caller,
  wanted: string | undefined,
  { operators }: Settings,
): string | null => {
  if (wanted === undefined || wanted === own) return own
  if (!operators.includes(own)) throw new Forbidden('Only operators see other organisations')
  return wanted === all ? null : wanted
}

/** The part of a query that keeps rows to an organisation, and bounds the work of counting all of them. */
export const rowsOf = (
  organization: string | null,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) => (organization === null ? { countTo: offset + limit + counted } : { where: { organization } })

/** The caller's key as it is now. Throws Unauthorized where the key was revoked, and for people without a key. */
export const ownKey = async (caller: Caller, keyring: Keyring, clock: Clock): Promise<KeyRow> => {
  const row = await keyring.get(caller.key, caller.organization)
  // Another process may have revoked the caller's key a moment ago: a revoked key leaves no heir.
  if (row === null || !lives(row, clock.now())) throw new Unauthorized()
  return row
}
