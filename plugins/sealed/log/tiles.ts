import { Unavailable } from '../../../core/errors.ts'
import { type MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { rootOver } from '../wire/tree.ts'
import type { WholeNode } from './log-tree.ts'

/** Up to 256 nodes of one level, side by side, as one text of hex. */
interface TileRow {
  readonly nodes: string
}

const tileRows = kind<TileRow>('receipt_tile')

/** A tile holds 256 nodes, from which the eight levels above are made: rows of higher nodes are few. */
const levels = 8
const width = 2 ** levels
/** Hex digits of one node. */
const digits = 64

/** The nodes of a log in rows: tiles of leaves, tiles over whole tiles, and so on. */
export interface Tiles {
  readonly whole: WholeNode
  /** Leaves behind the first `size`, in hex: a process that failed put them there, and may have had them signed. */
  behind(size: number): Promise<readonly string[]>
  /**
   * Puts leaves behind the first `size`. Leaves that a killed process put there are replaced. Throws Unavailable when
   * another process wrote meanwhile.
   */
  append(size: number, leaves: readonly Uint8Array[]): Promise<void>
}

/** The level counts tiles: level 1 is over whole tiles of leaves. */
const idOf = (level: number, index: number): string => `${level}-${index}`

/** The nodes of a tile, from the left. */
const namesIn = (hex: string): readonly string[] =>
  Array.from({ length: hex.length / digits }, (_, at) => hex.slice(at * digits, (at + 1) * digits))

const nodesIn = (hex: string): readonly Uint8Array[] =>
  namesIn(hex).map((name) => Uint8Array.from(Buffer.from(name, 'hex')))

/** Nodes below the signed size never change, so any process may read them at any time. */
export const tilesIn = (rows: MetadataStore): Tiles => {
  const write = async (id: string, seen: TileRow | null, nodes: string): Promise<void> => {
    if (seen?.nodes === nodes) return
    const written =
      seen === null ? await rows.create(tileRows, id, { nodes }) : await rows.update(tileRows, id, { nodes }, seen)
    if (!written) throw new Unavailable()
  }

  const append = async (level: number, size: number, nodes: readonly Uint8Array[]): Promise<void> => {
    const above: Uint8Array[] = []
    for (let done = 0; done < nodes.length;) {
      const [tile, used] = [Math.floor((size + done) / width), (size + done) % width]
      const taken = nodes.slice(done, done + width - used)
      const id = idOf(level, tile)
      const seen = await rows.get(tileRows, id)
      const kept = (seen?.nodes ?? '').slice(0, used * digits)
      if (kept.length < used * digits) throw new Unavailable()
      const all = kept + taken.map((leaf) => Buffer.from(leaf).toString('hex')).join('')
      await write(id, seen, all)
      if (all.length === width * digits) above.push(rootOver(nodesIn(all)))
      done += taken.length
    }
    if (above.length > 0) await append(level + 1, Math.floor(size / width), above)
  }

  return {
    append: (size, leaves) => append(0, size, leaves),
    async behind(size) {
      const leaves: string[] = []
      for (let at = size; ; at = size + leaves.length) {
        const row = await rows.get(tileRows, idOf(0, Math.floor(at / width)))
        const found = namesIn((row?.nodes ?? '').slice((at % width) * digits))
        leaves.push(...found)
        if (found.length < width - (at % width)) return leaves
      }
    },
    async whole(level, index) {
      const within = level % levels
      const first = index * 2 ** within
      const row = await rows.get(tileRows, idOf(Math.floor(level / levels), Math.floor(first / width)))
      const from = (first % width) * digits
      const nodes = (row?.nodes ?? '').slice(from, from + 2 ** within * digits)
      if (nodes.length < 2 ** within * digits) throw new Unavailable()
      return rootOver(nodesIn(nodes))
    },
  }
}
