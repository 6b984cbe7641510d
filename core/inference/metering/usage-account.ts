import type { Journal, TakenJournal } from '../../ports/usage-journal.ts'
import { bookOf, type BookLine, enter, linesOf, type UsageBook, usageBook } from './usage-book.ts'

/** Bytes of a journal after which it is written anew without what is over. */
const mostBytes = 4 * 1024 * 1024

/** A book with the journal that keeps it. */
export interface UsageAccount {
  readonly book: UsageBook
  /** Whether a journal keeps the lines. */
  readonly keeps: boolean
  /** Enters a line, and keeps it first. False when some of its counts found no room. */
  note(line: BookLine): boolean
  /** False when another process has taken the journal. */
  beat(): boolean
  isEmpty(): boolean
  /** Shortens a long journal, and removes that of an empty book which no process adds to. */
  tidy(): void
  /** The process ends: a journal stays only for what is left. */
  leave(): void
}

/** The account of a process that counts. `failed` hears of a journal that can't be written; the account goes on without it. */
export const account = (by: string, journal: Journal | null, failed: (cause: unknown) => void): UsageAccount => {
  const it = kept(usageBook(by), journal, failed)
  it.note(['by', by])
  return it
}

/** The account of a process that is gone: its calls without counts are counted as guessed. Null when it can't be read. */
export const recoveredAccount = (
  { journal, lines }: TakenJournal,
  failed: (cause: unknown) => void,
): { readonly account: UsageAccount; readonly estimated: number } | null => {
  const book = bookOf(lines)
  if (book === null) {
    journal.remove()
    return null
  }
  const account = kept(book, journal, failed)
  const calls = [...book.calls]
  for (const [call, { place, guess }] of calls) account.note(['count', call, place, guess])
  return { account, estimated: calls.length }
}

const kept = (book: UsageBook, opened: Journal | null, failed: (cause: unknown) => void): UsageAccount => {
  let journal = opened
  let bytes = 0

  const attempt = (work: (journal: Journal) => void): void => {
    if (journal === null) return
    try {
      work(journal)
    } catch (cause) {
      failed(cause)
      // An old journal would be counted a second time.
      const broken = journal
      journal = null
      try {
        broken.remove()
      } catch (second) {
        failed(second)
      }
    }
  }
  const isEmpty = () => book.sheets.size === 0 && book.calls.size === 0

  const it: UsageAccount = {
    book,
    get keeps() {
      return journal !== null
    },
    note(line) {
      attempt((journal) => {
        const text = JSON.stringify(line)
        bytes += text.length
        journal.append(text)
      })
      return enter(book, line)
    },
    beat() {
      return journal === null || journal.beat()
    },
    isEmpty,
    tidy() {
      if (bytes < mostBytes) return
      const lines = linesOf(book).map((line) => JSON.stringify(line))
      attempt((journal) => journal.replace(lines))
      bytes = 0
    },
    leave() {
      if (isEmpty()) attempt((journal) => journal.remove())
    },
  }
  return it
}
