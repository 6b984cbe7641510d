import type { Kind, MetadataStore, ReportQuery, Reports, Sum, SumGroup } from '../../core/ports/metadata-store.ts'
import { endOfMonth } from './spans.ts'
import { daySums, type Grouping, groupings, lengthOfSums, monthSums, tablePrefix, writeTable } from './sum-tables.ts'
import { countNames, shares, usages } from './usage-rows.ts'

/** Where tables of sums are made. */
export interface Tables {
  readonly rows: MetadataStore
  readonly reports: Reports
  /** Leaves the machine to calls for a moment. */
  rest(): Promise<void>
}

/** One reading of usage. */
interface Reading {
  /** Null for all. */
  readonly organization: string | null
  readonly turn: number
}

/** Tables that are written between two rests. */
const atOnce = 64
/** Organisations whose months are read at once. */
const readAtOnce = 8
/** Sums of one report. */
const sumsAtOnce = 5_000

const ownGroupings = ['day', 'organization', 'team', 'user', 'key', 'model'] as const satisfies readonly Grouping[]
const sharedGroupings = ['backend', 'tag'] as const satisfies readonly Grouping[]

/** Makes the tables of a day from its rows, in few readings however many organisations there are. */
export const foldDay = async (tables: Tables, { organization, day, turn }: Reading & { readonly day: string }) => {
  const where = organization === null ? {} : { organization }
  const write = async (groups: readonly SumGroup[]): Promise<void> => {
    for (let at = 0; at < groups.length; at += atOnce) {
      const written = groups
        .slice(at, at + atOnce)
        .map(({ within, by, sums }) =>
          writeTable(tables.rows, daySums, { by: by as Grouping, organization: within, period: day, turn }, sums),
        )
      await Promise.all(written)
      await tables.rest()
    }
  }
  const between = { field: 'day', from: day, to: day } as const
  for await (const groups of groupsIn(tables.reports, usages, { where, between }, ownGroupings)) await write(groups)
  const prefix = organization === null ? `${day}/` : `${day}/${organization}/`
  for (const by of sharedGroupings)
    for await (const groups of groupsIn(tables.reports, shares, { where: { ...where, by }, prefix }, ['name']))
      await write(groups.map((group) => ({ ...group, by })))
}

/** Makes the tables of a month from those of its days. */
export const foldMonth = async (
  tables: Tables,
  { organization, month, turn }: Reading & { readonly month: string },
) => {
  const { rows, reports, rest } = tables
  const names = organization === null ? [...(await namesOfMonth(reports, month))] : [organization]
  while (names.length > 0) {
    const written = names.splice(0, readAtOnce).flatMap((organization) =>
      groupings.map(async (by) => {
        const all = await talliedIn(reports, by, organization, month)
        await writeTable(rows, monthSums, { by, organization, period: month, turn }, all)
      }),
    )
    await Promise.all(written)
    await rest()
  }
}

/** The sums of organisations, as many as one report gives. */
async function* groupsIn<T extends { readonly organization: string }>(
  reports: Reports,
  kind: Kind<T>,
  query: ReportQuery<T>,
  by: readonly (keyof T & string)[],
): AsyncGenerator<readonly SumGroup[]> {
  const fields = countNames as readonly string[] as readonly (keyof T & string)[]
  let after: string | undefined
  do {
    const part = { limit: sumsAtOnce, ...(after !== undefined && { after }) }
    const found = await reports.groups(kind, query, 'organization', by, fields, part)
    yield found
    const count = found.reduce((all, { sums }) => all + sums.length, 0)
    after = count < sumsAtOnce ? undefined : found.at(-1)?.within
  } while (after !== undefined)
}

/** The organisations of a month. */
const namesOfMonth = async (reports: Reports, month: string): Promise<readonly string[]> => {
  const between = { field: 'period', from: `${month}-01`, to: endOfMonth(month) } as const
  const where = { by: 'organization' } as const
  const found = await reports.tally(daySums, { where, between }, 'sums', 1, { limit: 1_000_000 })
  return found.map(({ name }) => name)
}

/** The sums of an organisation's month. */
const talliedIn = async (
  reports: Reports,
  by: Grouping,
  organization: string,
  month: string,
): Promise<readonly Sum[]> => {
  const prefix = tablePrefix(by, organization, `${month}-`)
  const all: Sum[] = []
  let after: string | undefined
  do {
    const part = { limit: sumsAtOnce, ...(after !== undefined && { after }) }
    const found = await reports.tally(daySums, { prefix }, 'sums', lengthOfSums, part)
    all.push(...found)
    after = found.length < sumsAtOnce ? undefined : found.at(-1)?.name
  } while (after !== undefined)
  return all
}
