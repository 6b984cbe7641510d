import { type Audit, operator } from '../../../core/access/audit.ts'
import { credentialHash } from '../../../core/access/credential.ts'
import { type KeyRow, keyOf, keys as stock, lives } from '../../../core/access/key-row.ts'
import type { Keyring } from '../../../core/access/keyring.ts'
import { Conflict } from '../../../core/errors.ts'
import type { MetadataStore } from '../../../core/ports/metadata-store.ts'

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

/** Stores the configured key where the store has none such. Null when the key opens the gateway, otherwise why it does not. */
export const storeGivenKey = async (
  keys: Keyring,
  audit: Audit,
  rows: MetadataStore,
  given: string,
): Promise<string | null> => {
  if ((await keys.find(given)) !== null) return null
  const stored = () => rows.get(stock, credentialHash(given))
  if ((await stored()) === null) await make(keys, audit, given).catch(passConflict)
  if ((await keys.find(given)) !== null) return null
  const row = await stored()
  return row === null ? 'it left the store' : whyShut(keyOf(row), Date.now())
}

/** Another process stored the key first. */
const passConflict = (error: unknown): void => {
  if (!(error instanceof Conflict)) throw error
}

const whyShut = (key: KeyRow, now: number): string => {
  if (key.revoked_at !== null) return 'it was revoked'
  if (!lives(key, now)) return 'it has expired'
  return key.mode === 'test' ? 'it is a test key, which only testKeys or development admits' : 'its team is closed'
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
