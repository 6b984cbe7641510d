import { Unavailable } from '../../../core/errors.ts'
import type { Kind, Row } from '../../../core/ports/metadata-store.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import type { Connection } from './connection.ts'
import { decodeText, encodeText } from './encoding.ts'
import type { IndexStates } from './indexes.ts'
import type { KeysOf } from './keys.ts'
import { type IndexRange, memberOf, type RowFields } from './query.ts'
import { get, page, swap } from './scripts.ts'

/** Computes the new row from the old row, or from null. Null removes the row; undefined leaves it unchanged. */
export type Change = (row: RowFields | null) => RowFields | null | undefined

/** What one script gives of a range. */
export interface ScanPage {
  /** Counts all rows of the range. */
  readonly total: number
  readonly rows: readonly Row<RowFields>[]
}

/** Absent options mean ascending order, from the first row to the last. */
export interface ScanOptions {
  readonly descending?: boolean
  /** Rows before the first page. */
  readonly offset?: number
  /** Rows of all pages together. */
  readonly limit?: number
}

/** The rows of one script; Redis runs nothing else during a script. */
const rowsPerScript = 500

/** The rows of a range, page by page. */
export const scanning = ({ ask }: Connection, keysOf: KeysOf) =>
  async function* <T>(kind: Kind<T>, range: IndexRange, options: ScanOptions = {}): AsyncGenerator<ScanPage> {
    const { descending = false, offset = 0, limit = Infinity } = options
    const { row, index, indexes } = keysOf(kind)
    const keys = [index + range.fields, indexes]
    let { first, last } = range
    for (let left = limit, skip = offset; ; skip = 0) {
      const bounds = [first, last, descending ? 'desc' : 'asc', `${skip}`, `${Math.min(rowsPerScript, left)}`]
      const args = [range.fields, `${range.depth}`, row, ...bounds]
      const [total, found, end] = await ask<[number, [string, string][], string]>(page, keys, args)
      const rows = found.map(([id, text]) => ({ id: decodeText(id), row: JSON.parse(text) as RowFields }))
      yield { total, rows }
      if ((left -= found.length) <= 0 || found.length < rowsPerScript) return
      if (descending) last = `(${end}`
      else first = `(${end}`
    }
  }

interface Changing {
  readonly connection: Connection
  readonly clock: Clock
  readonly random: Random
  /** In ms: after this time a change makes no further try. The wait in the queue counts. */
  readonly patience: number
  readonly keysOf: KeysOf
  readonly states: IndexStates
}

/** Changes rows. Changes of one row queue in this process, so that only other processes can interfere. */
export const changing = ({ connection: { ask }, clock, random, patience, keysOf, states }: Changing) => {
  const turns = new Map<string, Promise<unknown>>()

  /** Reads, changes and swaps until no other process interferes. `assumed` is the expected current text, if known. */
  const swapUntilDone = async <T>(kind: Kind<T>, id: string, change: Change, assumed: string | null, until: number) => {
    const { row, index, indexes, done } = keysOf(kind)
    const key = row + encodeText(id)
    const keys = [key, indexes, done + Buffer.from(random.bytes(12)).toString('base64url')]
    const member = (fields: RowFields | null, name: string) => (fields ? memberOf(name, id, fields) : '')
    for (let standing = assumed; ;) {
      if (clock.now() >= until) throw new Unavailable()
      const text: string = standing ?? (await ask<string | null>(get, [key])) ?? ''
      const before = text ? (JSON.parse(text) as RowFields) : null
      const after = change(before)
      if (after === undefined) return undefined
      standing = await states.within(kind, (all) => {
        const members = [...all.keys()].flatMap((name) => [index + name, member(before, name), member(after, name)])
        const next = after ? JSON.stringify(after) : ''
        return ask<string | null>(swap, keys, [`${all.size}`, text, next, `${2 * patience}`, ...members])
        // The mark of a completed change outlives the second sending, which comes within `patience` ms.
      })
      // Null means that the change is done; a text is what another process stored in between, empty for no
      // row.
      if (standing === null) return after
    }
  }

  return {
    /** Returns the row after the change; null when the row is gone, undefined when it was left unchanged. */
    change<T>(kind: Kind<T>, id: string, change: Change, assumed: string | null = null) {
      const key = keysOf(kind).row + encodeText(id)
      // The time in the queue counts toward the patience of a change.
      const until = clock.now() + patience
      const work = () => swapUntilDone(kind, id, change, assumed, until)
      const turn = (turns.get(key) ?? Promise.resolve()).then(work, work)
      const over = () => turns.get(key) === turn && turns.delete(key)
      turns.set(key, turn)
      turn.then(over, over)
      return turn
    },
    /** Resolves when every change that was begun has ended, well or not. */
    settled: () => Promise.allSettled(turns.values()),
  }
}
