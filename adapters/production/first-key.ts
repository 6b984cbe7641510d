import type { Keyring } from '../../core/access/keyring.ts'

/** Sees to it that somebody can come in: the given key, or one made when there is none at all; only a made one is given back. */
export const firstKey = async (keys: Keyring, given: string | undefined): Promise<string | null> => {
  const name = 'first'
  if (given) {
    if ((await keys.find(given)) === null) await keys.create({ name }, given)
    return null
  }
  const { total } = await keys.list(null, 1, 0)
  return total > 0 ? null : (await keys.create({ name })).credential
}
