import { plugin } from '../../plugin.ts'
import { UsageJournal } from '../../ports/usage-journal.ts'

/** Of a process that leaves nothing behind. */
export const withoutJournal = plugin({
  port: UsageJournal,
  name: 'without-journal',
  create: (): UsageJournal => ({ lasting: false, open: () => null, take: () => null }),
})
