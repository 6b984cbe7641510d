import { nodeOf } from '../wire/tree.ts'

/** The node over 2^level leaves, the index-th of its level. Such nodes never change. */
export type WholeNode = (level: number, index: number) => Promise<Uint8Array>

/** Nodes of the tree of RFC 9162 over the first leaves of a log. Only whole nodes are kept; the others are made from them. */
export interface LogTree {
  /** The root over the first `size` leaves, of which there is at least one. */
  root(size: number): Promise<Uint8Array>
  /** Neighbours from a leaf up to the root. */
  place(index: number, size: number): Promise<readonly Uint8Array[]>
  /** Nodes by which the later tree shows that the earlier one is its beginning. */
  continued(earlier: number, later: number): Promise<readonly Uint8Array[]>
}

/** The largest power of two below a count above one. */
const leftOf = (count: number): number => 2 ** Math.ceil(Math.log2(count) - 1)

/** A path reads about log2(size) nodes, so that a proof costs a few rows however long the log is. */
export const logTree = (whole: WholeNode): LogTree => {
  /** The node over the leaves from `from`, below `to`. */
  const over = async (from: number, to: number): Promise<Uint8Array> => {
    const count = to - from
    const level = Math.log2(count)
    if (Number.isInteger(level)) return whole(level, from / count)
    const middle = from + leftOf(count)
    return nodeOf(await over(from, middle), await over(middle, to))
  }

  /** The neighbours of one leaf, the lowest first. */
  const beside = async (index: number, from: number, to: number): Promise<readonly Uint8Array[]> => {
    if (to - from === 1) return []
    const middle = from + leftOf(to - from)
    return index < middle
      ? [...(await beside(index, from, middle)), await over(middle, to)]
      : [...(await beside(index, middle, to)), await over(from, middle)]
  }

  /** `known`: the reader has the root of the earlier tree, which this part is. */
  const between = async (earlier: number, from: number, to: number, known: boolean): Promise<readonly Uint8Array[]> => {
    if (earlier === to) return known ? [] : [await over(from, to)]
    const middle = from + leftOf(to - from)
    return earlier <= middle
      ? [...(await between(earlier, from, middle, known)), await over(middle, to)]
      : [...(await between(earlier, middle, to, false)), await over(from, middle)]
  }

  return {
    root: (size) => over(0, size),
    place: (index, size) => beside(index, 0, size),
    continued: async (earlier, later) => (earlier === 0 || earlier === later ? [] : between(earlier, 0, later, true)),
  }
}
