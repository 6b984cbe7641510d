import { type Audit, operator } from '../../../core/access/audit.ts'
import type { Keyring } from '../../../core/access/keyring.ts'

/** More than there can be first starts at once. */
const most = 1000

const make = (keys: Keyring, audit: Audit, credential?: string) =>
  audit.record(
    operator('command'),
    'key.create',
    null,
    () => keys.create({ name: 'first' }, credential),
    ({ row }) => row.id,
  )

/** The configured key is valid from here on. */
export const givenKey = async (keys: Keyring, audit: Audit, given: string): Promise<void> => {
  if ((await keys.find(given)) === null) await make(keys, audit, given)
}

/** A key that is made where there is none at all, so that somebody can come in; null where there is one. */
export const firstKey = async (keys: Keyring, audit: Audit): Promise<string | null> => {
  const { total } = await keys.list(null, 1, 0)
  if (total > 0) return null
  const { credential, row } = await make(keys, audit)
  const { rows } = await keys.list(null, most, 0)
  if (rows.at(-1)?.id === row.id) return credential
  // Others found none either: the oldest stays, which every one of them sees the same.
  await audit.record(operator('command'), 'key.revoke', row.id, () => keys.revoke(row.id, null))
  return null
}
