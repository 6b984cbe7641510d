import { one } from '../../core/container.ts'
import { Overdue } from '../../core/errors.ts'
import { reportsOf } from './listed-reports.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Log, Random } from '../../core/ports/platform.ts'
import { type Kind, MetadataStore, type Part, type Reports, type Sum } from '../../core/ports/metadata-store.ts'
import { foldCursor } from './late-days.ts'
import { type Folding, usageFold } from './usage-fold.ts'
import type { Counts } from '../../core/ports/ledger.ts'
import { countNames, shares, usages } from './usage-rows.ts'
import { daySums, type Grouping, lengthOfSums, monthSums, type SumTable, tablePrefix } from './sum-tables.ts'
import { recentSums, sumsOfTurn } from './remembered-sums.ts'
import { dayAfter, spansOf } from './spans.ts'

/** What was used, by what, and when. */
export interface UsageQuestion extends Part {
  readonly by: Grouping
  /** Null for all. */
  readonly organization: string | null
  /** `YYYY-MM-DD`, both inclusive. */
  readonly from: string
  readonly to: string
}

/** The sum under one name. */
export interface UsageSum {
  /** Empty for rows without a name, such as those of keys without a team. */
  readonly name: string
  readonly counts: Required<Counts>
}

/** Sums of usage: kept for days and months that are over, and added up from rows for the days since. */
export interface UsageSums {
  /** In the order of the names. Throws Overdue where the rows are too many. */
  ask(question: UsageQuestion): Promise<readonly UsageSum[]>
  dispose(): Promise<void>
}

export const UsageSums = one<UsageSums>('UsageSums')

/**
 * Sums of a turn hold until the next turn. Days that go on are added up for each question, unless that took
 * long a moment ago.
 */
export const usageSums = plugin({
  port: UsageSums,
  name: 'usage-sums',
  needs: { rows: MetadataStore, clock: Clock, log: Log, random: Random },
  create: ({ rows, clock, log, random }): UsageSums => {
    const reports = reportsOf(rows)
    const folding: Folding = usageFold({ rows, reports, clock, log, random })
    /** Equal questions at the same time have one answer. */
    const asking = new Map<string, Promise<readonly UsageSum[]>>()
    const known = sumsOfTurn()
    const recent = recentSums(clock)

    const found = async (question: UsageQuestion): Promise<readonly UsageSum[]> => {
      const { by, organization, from, to, ...part } = question
      const cursor = await foldCursor(rows)
      const { days, months, open } = spansOf(from, to, cursor?.day ?? null)
      const kept = (table: Kind<SumTable>, spans: readonly (readonly [string, string])[]) =>
        spans.map(([from, to]) => {
          const question = { by, organization, from, to, ...part }
          const name = JSON.stringify([table.name, question])
          return known(cursor?.turn ?? null, name, () => keptSums(reports, table, question))
        })
      const all = await Promise.all([
        ...kept(daySums, days),
        ...kept(monthSums, months),
        ...open.map(([from, to]) => {
          const question = { by, organization, from, to, ...part }
          return recent(JSON.stringify(question), () => openSums(reports, question))
        }),
      ])
      return merged(all, question.limit).map(printed)
    }

    return {
      async ask(question) {
        const text = JSON.stringify(question)
        let answer = asking.get(text)
        if (answer === undefined) {
          answer = found(question).finally(() => asking.delete(text))
          asking.set(text, answer)
        }
        try {
          return await answer
        } catch (cause) {
          throw cause instanceof Overdue ? overdue(question, cause) : cause
        }
      },
      dispose: () => folding.dispose(),
    }
  },
})

const keptSums = (
  reports: Reports,
  table: Kind<SumTable>,
  { by, organization, from, to, ...part }: UsageQuestion,
): Promise<readonly Sum[]> =>
  reports.tally(
    table,
    {
      ...(organization === null ? { where: { by } } : { prefix: tablePrefix(by, organization, commonStart(from, to)) }),
      between: { field: 'period', from, to },
    },
    'sums',
    lengthOfSums,
    part,
  )

/** From the rows themselves. */
const openSums = (
  reports: Reports,
  { by, organization, from, to, ...part }: UsageQuestion,
): Promise<readonly Sum[]> => {
  const between = { field: 'day', from, to } as const
  const own = organization === null ? {} : { organization }
  if (by !== 'backend' && by !== 'tag') return reports.group(usages, { where: own, between }, by, countNames, part)
  const prefix = from === to && organization !== null ? `${from}/${organization}/` : commonStart(from, to)
  return reports.group(shares, { prefix, where: { ...own, by }, between }, 'name', countNames, part)
}

const commonStart = (one: string, other: string): string => {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return one.slice(0, length)
}

/** Adds up lists that each end at `limit` names. */
const merged = (lists: readonly (readonly Sum[])[], limit: number): readonly Sum[] => {
  const sums = new Map<string, readonly number[]>()
  for (const list of lists)
    for (const { name, sums: counts } of list) {
      const known = sums.get(name)
      sums.set(name, known === undefined ? counts : counts.map((count, at) => count + (known[at] ?? 0)))
    }
  return [...sums]
    .map(([name, sums]) => ({ name, sums }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, limit)
}

const printed = ({ name, sums }: Sum): UsageSum => ({
  name,
  counts: Object.fromEntries(countNames.map((field, at) => [field, sums[at] ?? 0])) as unknown as Required<Counts>,
})

/** Names a span that has half the days. */
const overdue = ({ from, to }: UsageQuestion, cause: Overdue): Overdue => {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)
  if (days === 0) return new Overdue({ cause, validator: { organization: 'Expected one organisation' } })
  return new Overdue({ cause, validator: { from: `Expected ${dayAfter(from, Math.ceil(days / 2))} or later` } })
}
