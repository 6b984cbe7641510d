import { isDeepStrictEqual } from 'node:util'
import type { ConfigurationChange } from '../../../plugins/surfaces/admin/configuration.ts'
import { isFixed } from './fixed-paths.ts'
import type { Leaf } from './shown-settings.ts'

const byPath = (leaves: readonly Leaf[]): ReadonlyMap<string, Leaf> =>
  new Map(leaves.map((leaf) => [JSON.stringify(leaf.path), leaf]))

/** A default that is written down changes nothing; another variable is another source, even with the same value. */
const isSame = (one: Leaf, other: Leaf): boolean =>
  one.shown.variable === other.shown.variable && isDeepStrictEqual(one.value, other.value)

/** What another configuration has differently from the one in effect, in the order of the one in effect. */
export const configurationChanges = (
  inEffect: readonly Leaf[],
  next: readonly Leaf[],
): readonly ConfigurationChange[] => {
  const [before, after] = [byPath(inEffect), byPath(next)]
  const both = new Map([...before, ...after])
  return [...both].flatMap(([at, { path }]): readonly ConfigurationChange[] => {
    const [old, young] = [before.get(at) ?? null, after.get(at) ?? null]
    if (old !== null && young !== null && isSame(old, young)) return []
    const change = old === null ? 'added' : young === null ? 'removed' : 'changed'
    return [{ path, change, before: old?.shown ?? null, after: young?.shown ?? null, restart: isFixed(path) }]
  })
}
