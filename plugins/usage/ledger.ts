import { type Counts, Ledger, type Place } from '../../core/ports/ledger.ts'
import { plugin } from '../../core/plugin.ts'
import { type Alarm, Clock, Log, Random } from '../../core/ports/platform.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import { type Journal, UsageJournal } from './usage-journal.ts'
import { account, recoveredAccount, type UsageAccount } from './usage-account.ts'
import { type TagBound, tagBound } from './tags.ts'
import { usageWriter, voidJournals } from './usage-writer.ts'
import { lateDays } from './late-days.ts'

/** Adds up in memory and writes now and then, so that no request waits for the store. */
export interface UsageLedger extends Ledger {
  add(place: Place, counts: Counts): void
  dispose(): Promise<void>
}

/** Ms between two writes. */
const every = 1_000
/** Ms between two looks for journals whose process is gone. */
const lookEvery = 5_000
/** Writes at the end of a process; what no journal keeps is lost after them. */
const tries = 3
/** Ms after the last beat in which no other process can have taken the journal. */
const safeMs = 20_000
/** Rows that are written at once. */
const atOnce = 8

/** Rows are written every second, and journals of killed processes are looked for every five seconds. */
export const ledger = plugin({
  port: Ledger,
  name: 'ledger',
  needs: { rows: MetadataStore, clock: Clock, random: Random, log: Log, journals: UsageJournal },
  create: ({ rows, clock, random, log, journals }): UsageLedger => {
    const bound: TagBound = tagBound((whose) => log.warn('usage.tags', { of: 'organization', whose }))
    const writer = usageWriter(rows, lateDays(rows, clock))
    const voids = voidJournals(rows, log)
    const taken: UsageAccount[] = []
    let own: UsageAccount | null = null
    let calls = 0
    let beatAt = clock.now()
    let alarm: Alarm | null = null
    let isOver = false
    let writing: Promise<void> | null = null

    const failed = (cause: unknown) => log.error('usage.unkept', {}, cause)

    const openJournal = (): Journal | null => {
      try {
        return journals.open()
      } catch (cause) {
        failed(cause)
        return null
      }
    }
    /** Begins anew where another process has taken the journal, and so counts what this one had. */
    const beat = (): void => {
      beatAt = clock.now()
      if (own === null || own.beat()) return
      log.error('usage.taken', { rows: own.book.sheets.size })
      own = null
    }
    const ownAccount = (): UsageAccount => {
      // A process that stood still finds out before it counts again.
      if (clock.now() - beatAt > safeMs) beat()
      return (own ??= account(Buffer.from(random.bytes(6)).toString('hex'), openJournal(), failed))
    }

    const accounts = (): readonly UsageAccount[] => [...taken, ...(own === null ? [] : [own])]
    const sheetsOf = (some: readonly UsageAccount[]) => some.reduce((sum, { book }) => sum + book.sheets.size, 0)
    const waiting = () => sheetsOf(accounts())
    /** A journal that broke is begun anew as soon as its disk takes lines. */
    const renew = (): void => {
      for (const account of accounts()) {
        if (account.renew(journals.open)) log.info('usage.kept', { rows: account.book.sheets.size })
        if (account.leavesCopy()) arm()
      }
    }

    /** False when a row could not be written. */
    const writeAccount = async (account: UsageAccount): Promise<boolean> => {
      const { book, note } = account
      const ready = () => voids.settle(account)
      try {
        await ready()
      } catch (cause) {
        log.error('usage.unwritten', { rows: waiting() }, cause)
        return false
      }
      const sheets = [...book.sheets]
      while (sheets.length > 0) {
        const some = sheets.splice(0, atOnce)
        const outcomes = await Promise.allSettled(
          some.map(([name, sheet]) => writer.write(book, name, sheet, note, ready)),
        )
        const at = outcomes.findIndex(({ status }) => status === 'rejected')
        if (at < 0) continue
        log.error('usage.unwritten', { rows: waiting() }, (outcomes[at] as PromiseRejectedResult).reason)
        // A row that failed goes last, so that it cannot keep the others from being written.
        for (const [place, [name]] of some.entries()) {
          const sheet = book.sheets.get(name)
          if (sheet === undefined || outcomes[place]?.status !== 'rejected') continue
          book.sheets.delete(name)
          book.sheets.set(name, sheet)
        }
        return false
      }
      return true
    }

    const write = async (): Promise<void> => {
      beat()
      for (const account of [...taken]) {
        if (!(await writeAccount(account))) return
        if (account.isEmpty()) {
          taken.splice(taken.indexOf(account), 1)
          account.leave()
        }
      }
      if (own !== null && (await writeAccount(own))) own.tidy()
    }

    const flush = (): Promise<void> => {
      alarm?.off()
      alarm = null
      return (writing ??= write().finally(() => {
        writing = null
        if (waiting() > 0) arm()
      }))
    }
    const arm = () => {
      if (!isOver) alarm ??= clock.alarm(every, () => void flush())
    }

    const takeOver = (): void => {
      beat()
      for (const account of [...taken]) if (!account.beat()) taken.splice(taken.indexOf(account), 1)
      try {
        const found = journals.take()
        const next = found && recoveredAccount(found, failed)
        if (next) {
          log.warn('usage.recovered', { calls: next.estimated, rows: next.account.book.sheets.size })
          voids.taken(next.account)
          taken.push(next.account)
          arm()
        }
      } catch (cause) {
        failed(cause)
      }
      renew()
      looking = clock.alarm(lookEvery, takeOver)
    }
    let looking: Alarm | null = journals.lasting ? clock.alarm(every, takeOver) : null

    const count = (note: 'note' | 'later', call: number | null, place: Place, counts: Counts): void => {
      const own = ownAccount()
      // The process that took the journal counts the call, too.
      if (call !== null && journals.lasting && !own.book.calls.has(call)) return
      const { tags, day, organization } = place
      const bounded = tags === undefined ? place : { ...place, tags: bound(organization, day, tags) }
      // A call that outlives the ledger counts with the next process, by its journal.
      const hasRoom = own[isOver ? 'note' : note](['count', call, bounded, counts])
      if (!hasRoom || (isOver && !own.keeps())) log.error('usage.lost', { model: place.model, day })
      arm()
    }

    return {
      add: (place, counts) => count('note', null, place, counts),
      open(place, guess) {
        const call = ++calls
        const own = ownAccount()
        if (journals.lasting) own.later(['open', call, place, guess()])
        return call
      },
      settle: (call, place, counts) => count('later', call, place, counts),
      keep: () => own?.keep(),
      cancel(call) {
        if (own?.book.calls.has(call)) own.note(['cancel', call])
      },
      async dispose() {
        looking?.off()
        await writing
        for (let left = tries; waiting() > 0 && left > 0; left--) await flush()
        if (waiting() > 0) renew()
        // What a journal keeps is written by the next process.
        const lost = sheetsOf(accounts().filter(({ keeps }) => !keeps()))
        if (lost > 0) log.error('usage.lost', { rows: lost })
        isOver = true
        alarm?.off()
        own?.leave()
      },
    }
  },
})
