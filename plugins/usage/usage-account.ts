import type { Counts } from '../../core/ports/ledger.ts'
import type { Journal, TakenJournal } from './usage-journal.ts'
import { bookOf, type BookLine, enter, linesOf, type UsageBook, usageBook } from './usage-book.ts'

/** Bytes of a journal after which it is written anew without what is over. */
const mostBytes = 4 * 1024 * 1024

/** A book with the journal that keeps it. */
export interface UsageAccount {
  readonly book: UsageBook
  /** Whether a journal keeps the lines. */
  keeps(): boolean
  /** Enters a line, and keeps it first. False when some of its counts found no room. */
  note(line: BookLine): boolean
  /** The same for a line that waits for `keep`, which writes all waiting lines at once. */
  later(line: BookLine): boolean
  keep(): void
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
  const made = kept(usageBook(by), journal, failed)
  made.note(['by', by])
  return made
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

/** A journal that may break: from then on it keeps nothing. */
const breakable = (opened: Journal | null, failed: (cause: unknown) => void) => {
  let journal = opened
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
  return {
    isWhole: () => journal !== null,
    attempt,
    /** A journal whose disk takes no beat is broken, and not taken. */
    beat(): boolean {
      let isOwn = true
      attempt((whole) => void (isOwn = whole.beat()))
      return isOwn
    },
  }
}

const kept = (book: UsageBook, opened: Journal | null, failed: (cause: unknown) => void): UsageAccount => {
  const { isWhole, attempt, beat } = breakable(opened, failed)
  let bytes = 0
  let waiting = ''
  const isEmpty = () => book.sheets.size === 0 && book.calls.size === 0

  const own: UsageAccount = {
    book,
    keeps: isWhole,
    note(line) {
      const hasRoom = own.later(line)
      own.keep()
      return hasRoom
    },
    later(line) {
      if (isWhole()) {
        const text = printed(line)
        bytes += text.length
        waiting += `${text}\n`
      }
      return enter(book, line)
    },
    keep() {
      if (waiting === '') return
      const lines = waiting
      waiting = ''
      attempt((journal) => journal.append(lines))
    },
    beat() {
      own.keep()
      return beat()
    },
    isEmpty,
    tidy() {
      if (bytes < mostBytes) return
      own.keep()
      const lines = linesOf(book).map((line) => JSON.stringify(line))
      attempt((journal) => journal.replace(lines))
      bytes = 0
    },
    leave() {
      own.keep()
      if (isEmpty()) attempt((journal) => journal.remove())
    },
  }
  return own
}

/** The texts of places: a caller's calls have one of a few. */
const places = new WeakMap<object, string>()

const printed = (line: BookLine): string => {
  if (line[0] !== 'open' && line[0] !== 'count') return JSON.stringify(line)
  const [kind, call, place, counts] = line
  let text = places.get(place)
  if (text === undefined) places.set(place, (text = JSON.stringify(place)))
  return `["${kind}",${call},${text},{${membersOf(counts)}}]`
}

/** The counts that are not zero, as JSON has them. */
const membersOf = (counts: Counts): string => {
  let members = ''
  for (const name in counts) {
    const count = counts[name as keyof Counts]
    if (count) members += `${members === '' ? '' : ','}"${name}":${count}`
  }
  return members
}
