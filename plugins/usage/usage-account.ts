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
  /** A new journal begins for one that broke. The result is true when the new journal keeps the lines. */
  renew(open: () => Journal | null): boolean
  /** Whether a broken journal stays behind that would be counted again. */
  leavesCopy(): boolean
  /** The store has a mark of the journal that stays behind: nobody counts it. */
  voided(): void
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
  made.note(['by', by, made.book.edition])
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

/** A journal that may break. A broken one is removed; where that fails too, it stays behind until it is written anew. */
interface BreakableJournal {
  isWhole(): boolean
  /** Does the work on a whole journal. */
  attempt(work: (journal: Journal) => void): void
  /** False when another process has taken the journal. */
  beat(): boolean
  /** Begins a journal with these lines, in the place of one that stays behind. False while the disk takes none. */
  begin(open: () => Journal | null, lines: () => readonly string[]): boolean
  /** Whether a journal stays behind that the next process would count. */
  leavesCopy(): boolean
  /** What stays behind counts for nothing. */
  voided(): void
  /** The process ends, and its counts are written. */
  end(isWritten: boolean): void
}

/** A broken journal that its disk does not let go; it would be counted a second time. */
const leftBehind = () => {
  let left: Journal | null = null
  let isVoid = false
  return {
    journal: () => left,
    isVoid: () => isVoid,
    leavesCopy: () => left !== null && !isVoid,
    voided: () => void (isVoid = true),
    forget() {
      left = null
      isVoid = false
    },
    remove(broken: Journal) {
      try {
        broken.remove()
        left = null
      } catch {
        // A mark in the store tells of the journal, and each look tries again.
        left = broken
      }
    },
  }
}

/** `failed` hears once of a journal that breaks. */
const breakable = (opened: Journal | null, failed: (cause: unknown) => void): BreakableJournal => {
  let journal = opened
  const left = leftBehind()

  const attempt = (work: (journal: Journal) => void): void => {
    if (journal === null) return
    try {
      work(journal)
    } catch (cause) {
      failed(cause)
      const broken = journal
      journal = null
      left.remove(broken)
    }
  }
  return {
    isWhole: () => journal !== null,
    leavesCopy: left.leavesCopy,
    voided: left.voided,
    attempt,
    /** A journal whose disk takes no beat is broken, and not taken. */
    beat() {
      let isOwn = true
      attempt((whole) => void (isOwn = whole.beat()))
      if (!left.leavesCopy()) return isOwn
      try {
        return left.journal()?.beat() ?? true
      } catch {
        // The disk is broken as before.
        return true
      }
    },
    begin(open, lines) {
      if (journal !== null) return false
      let next = left.journal()
      try {
        next ??= open()
        next?.replace(lines())
      } catch {
        // A line of the log told it when the journal broke; the next look tries again.
        if (next !== null) left.remove(next)
        return false
      }
      journal = next
      left.forget()
      return journal !== null
    },
    end(isWritten) {
      if (isWritten) {
        attempt((whole) => whole.remove())
        journal = null
      }
      const broken = left.journal()
      if (broken !== null && (isWritten || left.isVoid())) left.remove(broken)
    },
  }
}

const kept = (book: UsageBook, opened: Journal | null, failed: (cause: unknown) => void): UsageAccount => {
  const { isWhole, attempt, beat, begin, leavesCopy, voided, end } = breakable(opened, failed)
  let bytes = 0
  let waiting = ''
  const texts = (edition: number) => linesOf({ ...book, edition }).map((line) => JSON.stringify(line))
  const isEmpty = () => book.sheets.size === 0 && book.calls.size === 0

  const own: UsageAccount = {
    book,
    keeps: isWhole,
    leavesCopy,
    voided,
    renew(open) {
      // The mark of what stays behind names the old edition.
      const isKept = begin(open, () => texts(book.edition + 1))
      if (isKept) book.edition++
      return isKept
    },
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
      attempt((journal) => journal.replace(texts(book.edition)))
      bytes = 0
    },
    leave() {
      own.keep()
      end(isEmpty())
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
