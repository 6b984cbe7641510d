import { createHash, randomBytes } from 'node:crypto'

/** Items of a table: 8 bytes each make 16 MiB. */
const slots = 2 ** 21
/** Spare tables for the next epochs. */
const mostSpare = 2

/** `seen`: one of the items was entered before. `full`: the table takes no more. */
export type ReplayOutcome = 'fresh' | 'seen' | 'full'

/** Remembers what one epoch has opened, so that a copied request does not run twice. */
export interface Replay {
  /** Enters all items or none, in one step. An item never passes twice, and a full table refuses new items. */
  enter(...items: readonly Uint8Array[]): ReplayOutcome
  /** True when any item was entered. */
  has(...items: readonly Uint8Array[]): boolean
  /** From 0 to 1. */
  fullness(): number
  /** Forgets all items and refuses new ones. */
  close(): void
}

/** Makes tables one after the other. A closed table's memory serves the next: fresh 16 MiB fragment the heap. */
export const replayTables = (size = slots): (() => Replay) => {
  const spare: BigUint64Array[] = []
  return () => replayTable(size, spare)
}

/** Tags of 8 bytes under a secret of the table, so that no caller aims at a slot. The first use takes 16 MiB. */
const replayTable = (size: number, spare: BigUint64Array[]): Replay => {
  const secret = randomBytes(32)
  let table: BigUint64Array | null = null
  let used = 0
  let closed = false

  const tagOf = (item: Uint8Array): bigint =>
    createHash('sha256').update(secret).update(item).digest().readBigUInt64BE() || 1n

  /** The slot of the tag, or the free slot for it. */
  const find = (slots: BigUint64Array, tag: bigint): number => {
    let at = Number(tag % BigInt(size))
    while (slots[at] !== 0n && slots[at] !== tag) at = (at + 1) % size
    return at
  }
  const holds = (slots: BigUint64Array, tag: bigint): boolean => slots[find(slots, tag)] === tag

  return {
    enter(...items) {
      if (closed) return 'full'
      const slots = (table ??= spare.pop() ?? new BigUint64Array(size))
      const tags = [...new Set(items.map(tagOf))]
      if (tags.length < items.length || tags.some((tag) => holds(slots, tag))) return 'seen'
      if (used + tags.length >= size) return 'full'
      for (const tag of tags) slots[find(slots, tag)] = tag
      used += tags.length
      return 'fresh'
    },
    has(...items) {
      const slots = table
      return slots !== null && items.map(tagOf).some((tag) => holds(slots, tag))
    },
    fullness: () => used / size,
    close() {
      if (table !== null && spare.length < mostSpare) spare.push(table.fill(0n))
      table = null
      closed = true
    },
  }
}
