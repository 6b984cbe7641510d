import { createHash, randomBytes } from 'node:crypto'

const slots = 2 ** 21

export type Entered = 'fresh' | 'seen' | 'full'

export interface Replay {
  /** Enters all or none, in one step: what was seen once never passes again, and a full table refuses rather than forgets. */
  enter(...items: readonly Uint8Array[]): Entered
  /** Whether any of them was entered. */
  has(...items: readonly Uint8Array[]): boolean
  /** From 0 to 1. */
  fullness(): number
}

/** Tags of 8 bytes under a secret of the table, so that nobody can aim at a slot. 16 MiB, taken when first used. */
export const replayTable = (size = slots): Replay => {
  const secret = randomBytes(32)
  let table: BigUint64Array | null = null
  let used = 0

  const tagOf = (item: Uint8Array): bigint =>
    createHash('sha256').update(secret).update(item).digest().readBigUInt64BE() || 1n

  /** Where the tag is, or the free slot where it would go. */
  const find = (tag: bigint): number => {
    let at = Number(tag % BigInt(size))
    while (table![at] !== 0n && table![at] !== tag) at = (at + 1) % size
    return at
  }

  return {
    enter(...items) {
      table ??= new BigUint64Array(size)
      const tags = [...new Set(items.map(tagOf))]
      if (tags.length < items.length || tags.some((tag) => table![find(tag)] === tag)) return 'seen'
      if (used + tags.length >= size) return 'full'
      for (const tag of tags) table[find(tag)] = tag
      used += tags.length
      return 'fresh'
    },
    has: (...items) => table !== null && items.map(tagOf).some((tag) => table![find(tag)] === tag),
    fullness: () => used / size,
  }
}
