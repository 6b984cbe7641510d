import { type Audit, operator } from '../../../core/access/audit.ts'
import type { Keyring } from '../../../core/access/keyring.ts'

/** More than the number of processes that can make a first key at the same time. */
const mostKeys = 1000

/** The audit names the command as the actor, since no key has asked for this one. */
const make = (keys: Keyring, audit: Audit, credential?: string) =>
  audit.record(
    operator('command'),
    'key.create',
    null,
    () => keys.create({ name: 'first' }, credential),
    ({ row }) => row.id,
  )

/** Stores the configured key, so that the gateway accepts it from now on. */
export const storeGivenKey = async (keys: Keyring, audit: Audit, given: string): Promise<void> => {
  if ((await keys.find(given)) === null) await make(keys, audit, given)
}

/** Makes a key when the store holds none, so that an operator can log in. Null when the store holds a key. */
export const makeFirstKey = async (keys: Keyring, audit: Audit): Promise<string | null> => {
  const { total } = await keys.list(null, 1, 0)
  if (total > 0) return null
  const { credential, row } = await make(keys, audit)
  const { rows } = await keys.list(null, mostKeys, 0)
  if (rows.at(-1)?.id === row.id) return credential
  // Several processes made a key at once: the oldest key stays, and all processes agree on the oldest.
  await audit.record(operator('command'), 'key.revoke', row.id, () => keys.revoke(row.id, null))
  return null
}
