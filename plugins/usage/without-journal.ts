import { plugin } from '../../core/plugin.ts'
import { UsageJournal } from './usage-journal.ts'

/** Of a process that leaves nothing behind. */
export const withoutJournal = plugin({
  port: UsageJournal,
  name: 'without-journal',
  create: (): UsageJournal => ({ lasting: false, open: () => null, take: () => null }),
})
