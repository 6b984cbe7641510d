import { type Audit, operator } from '../../core/access/audit.ts'
import type { Keyring } from '../../core/access/keyring.ts'

/** More than there can be first starts at once. */
const most = 1000

/** Sees to it that somebody can come in: the given key, or one made when there is none at all; only a made one is given back. */
export const firstKey = async (keys: Keyring, audit: Audit, given: string | undefined): Promise<string | null> => {
  const make = (credential?: string) =>
    audit.record(
      operator('command'),
      'key.create',
      null,
      () => keys.create({ name: 'first' }, credential),
      ({ row }) => row.id,
    )
  if (given) {
    if ((await keys.find(given)) === null) await make(given)
    return null
  }
  const { total } = await keys.list(null, 1, 0)
  if (total > 0) return null
  const { credential, row } = await make()
  const { rows } = await keys.list(null, most, 0)
  if (rows.at(-1)?.id === row.id) return credential
  // Others found none either: the oldest stays, which every one of them sees the same.
  await audit.record(operator('command'), 'key.revoke', row.id, () => keys.revoke(row.id, null))
  return null
}
