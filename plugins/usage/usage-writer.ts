import { kind as kindOf, type Kind, type MetadataStore } from '../../core/ports/metadata-store.ts'
import type { Log } from '../../core/ports/platform.ts'
import type { UsageAccount } from './usage-account.ts'
import { type BookLine, type DaySheet, billedTo, mostWaitingRows, type SheetRow, type UsageBook } from './usage-book.ts'
import { sharedId, shares, type SharedRow, usages } from './usage-rows.ts'

/** The largest number of tags with rows of their own, for an organisation on one day. The rest has one row. */
export const mostTags = 100
/** What the rest is called. */
export const otherTags = 'other'

/** What every counted row has. */
type CountedRow = Readonly<Record<string, string | number | null>>

/** Writes books into rows. However often a write is tried, and whenever a try arrives, it counts once. */
export interface UsageWriter {
  /**
   * `note` takes what happens, before the next step, and `ready` is awaited before anything is added. Rejects while the
   * store is down; then the write is tried again.
   */
  write(
    book: UsageBook,
    name: string,
    sheet: DaySheet,
    note: (line: BookLine) => void,
    ready: () => Promise<void>,
  ): Promise<void>
}

/** `written` is awaited with each row that has new counts. */
export const usageWriter = (
  rows: MetadataStore,
  written: (row: SheetRow, mark: string) => Promise<void>,
): UsageWriter => {
  /** How often a book was written to a row, which the row says too: no other process counts there. */
  const turns = new WeakMap<UsageBook, Map<string, { readonly id: string; readonly turn: number }>>()

  const turnIn = async (kind: Kind<CountedRow>, id: string, by: string) => Number((await rows.get(kind, id))?.[by] ?? 0)

  return {
    async write(book, name, sheet, note, ready) {
      const kind = (sheet.row.key === undefined ? shares : usages) as Kind<object> as Kind<CountedRow>
      const by = `by:${book.by}`
      let known = turns.get(book)
      if (known === undefined) turns.set(book, (known = new Map()))

      let { sent } = sheet
      if (sent === null) {
        const { id, turn } = known.get(name) ?? (await placeOf(rows, sheet.row, (id) => turnIn(kind, id, by)))
        note(['send', name, id, turn])
        sent = book.sheets.get(name)?.sent ?? null
        if (sent === null) return
      }
      const { id, turn, deltas } = sent
      await ready()
      const sums = await rows.add(kind, id, { ...deltas, [by]: 1 }, { [by]: turn || null })
      const there = sums !== null || (await turnIn(kind, id, by)) > turn
      if (there) await written(sheet.row, `${id}/${book.by}/${turn}`)
      note([there ? 'sent' : 'back', name])
      if (known.size >= mostWaitingRows) known.clear()
      if (there) known.set(name, { id, turn: turn + 1 })
      // The row itself is gone, and is made anew the next time.
      else known.delete(name)
    },
  }
}

/** The id of a sheet's row, which is made where it is missing, and the turn of the next write. */
const placeOf = async (
  rows: MetadataStore,
  row: SheetRow,
  turnIn: (id: string) => Promise<number>,
): Promise<{ readonly id: string; readonly turn: number }> => {
  if (row.key !== undefined) {
    const id = `${row.key}/${row.day}/${billedTo(row)}`
    return { id, turn: (await rows.create(usages, id, row)) ? 0 : await turnIn(id) }
  }
  const id = row.by === 'tag' ? await placeOfTag(rows, row) : sharedId(row, row.name)
  return { id, turn: (await rows.create(shares, id, row)) ? 0 : await turnIn(id) }
}

/**
 * Numbered places bound the tags of a day among all processes. Every process tries the places in the same order, so a
 * tag never has two.
 */
const placeOfTag = async (rows: MetadataStore, row: Omit<SharedRow, `by:${string}`>): Promise<string> => {
  const prefix = sharedId(row, '')
  if (row.name !== otherTags) {
    const found = (await rows.list(shares, { prefix, limit: mostTags + 1, countTo: 1 })).rows
    const own = found.find((stored) => stored.row.name === row.name)
    if (own !== undefined) return own.id
    const taken = new Set(found.map(({ id }) => id))
    for (let place = 0; place < mostTags; place++) {
      const id = `${prefix}${place}`
      if (taken.has(id)) continue
      if (await rows.create(shares, id, row)) return id
      if ((await rows.get(shares, id))?.name === row.name) return id
    }
  }
  const id = `${prefix}${otherTags}`
  await rows.create(shares, id, { ...row, name: otherTags })
  return id
}

/** A journal that stayed on a broken disk while its process counted on. Its id is the book with its edition. */
const voids = kindOf<object>('usage-void')

const idOf = ({ by, edition }: UsageBook): string => `${by}/${edition}`

/** Keeps the counts of a journal that could not be removed from being written a second time. */
export interface VoidJournals {
  /** The account may be void: another process may have counted on without its journal. */
  taken(account: UsageAccount): void
  /** Awaited before anything of an account is added. Rejects while the store is down. */
  settle(account: UsageAccount): Promise<void>
}

/** The mark comes before the first count that goes on without the journal, so one of the two is counted. */
export const voidJournals = (rows: MetadataStore, log: Log): VoidJournals => {
  const doubtful = new WeakSet<UsageAccount>()
  return {
    taken: (account) => void doubtful.add(account),
    async settle(account) {
      const { book } = account
      if (doubtful.has(account)) {
        if ((await rows.get(voids, idOf(book))) !== null) {
          log.warn('usage.void', { rows: book.sheets.size })
          book.calls.clear()
          book.sheets.clear()
        }
        doubtful.delete(account)
      }
      while (account.leavesCopy()) {
        const id = idOf(book)
        await rows.create(voids, id, {})
        // Another write may have marked the journal meanwhile, or a new edition may stand in its place.
        if (!account.leavesCopy() || id !== idOf(book)) continue
        account.voided()
        log.error('usage.behind', { journal: id })
      }
    },
  }
}
