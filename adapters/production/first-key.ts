import { type Audit, operator } from '../../core/access/audit.ts'
import type { Keyring } from '../../core/access/keyring.ts'

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
  return total > 0 ? null : (await make()).credential
}
