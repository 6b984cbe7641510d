import { sha256 } from '@noble/hashes/sha2.js'
import { concat, utf8, fromHex, toHex } from './bytes.ts'

/** The place of a leaf in a tree of `size` leaves, and the neighbours on its way to the root, in hex. */
export interface Place {
  readonly index: number
  readonly size: number
  readonly path: readonly string[]
}

/** Leaves of the largest tree, and neighbours of the longest path. */
const treeLimits = { leaves: 1 << 30, path: 30 }

/** The label separates leaves of different kinds. */
export const leafOf = (label: string, bytes: Uint8Array): Uint8Array =>
  sha256(concat(Uint8Array.of(0), utf8(label), bytes))

/** The node above two others. */
export const nodeOf = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(concat(Uint8Array.of(1), left, right))

/** The nodes above a level. The last node of an odd level has no neighbour and moves up unchanged. */
const above = (below: readonly Uint8Array[]): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(below.length / 2) }, (_, at) => {
    const [left, right] = [below[2 * at]!, below[2 * at + 1]]
    return right === undefined ? left : nodeOf(left, right)
  })

/** The root over these nodes, of which there is at least one. */
export const rootOver = (nodes: readonly Uint8Array[]): Uint8Array => {
  let level = nodes
  while (level.length > 1) level = above(level)
  return level[0]!
}

/** The root over these leaves, and the place of each leaf. */
export const treeOf = (
  leaves: readonly Uint8Array[],
): { readonly root: Uint8Array; readonly places: readonly Place[] } => {
  const paths: string[][] = leaves.map(() => [])
  let level = leaves
  for (let depth = 0; level.length > 1; depth++) {
    const below = level
    for (const [at, path] of paths.entries()) {
      const beside = below[(at >> depth) ^ 1]
      if (beside !== undefined) path.push(toHex(beside))
    }
    level = above(below)
  }
  return { root: level[0]!, places: paths.map((path, index) => ({ index, size: leaves.length, path })) }
}

const isPlace = ({ index, size, path }: Partial<Place>): boolean =>
  [index, size].every(Number.isSafeInteger) &&
  index! >= 0 &&
  index! < size! &&
  size! <= treeLimits.leaves &&
  Array.isArray(path) &&
  path.length <= treeLimits.path

/** The root that a leaf reaches from its place; null when no tree has this place. */
export const rootFrom = (leaf: Uint8Array, place: Place): Uint8Array | null => {
  if (!isPlace(place)) return null
  let { index, size } = place
  let node = leaf
  let at = 0
  for (; size > 1; size = (size + 1) >> 1, index >>= 1) {
    if (index % 2 === 0 && index === size - 1) continue
    const step: unknown = place.path[at++]
    const other = typeof step === 'string' ? fromHex(step, 32) : null
    if (other?.length !== 32) return null
    node = index % 2 === 0 ? nodeOf(node, other) : nodeOf(other, node)
  }
  return at === place.path.length ? node : null
}
