import { kind, type Kind, type MetadataStore, type Sum } from '../../core/ports/metadata-store.ts'
import { countNames } from './usage-rows.ts'

/** What usage is summed by. */
export const groupings = ['day', 'organization', 'team', 'user', 'key', 'model', 'backend', 'tag'] as const
export type Grouping = (typeof groupings)[number]

/** The sums of an organisation over a day or a month that is over. */
export interface SumTable {
  readonly organization: string
  readonly by: Grouping
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string
  /** Of the reading; a later turn has read later. */
  readonly turn: number
  /** By name, in the order of `countNames`. */
  readonly sums: Readonly<Record<string, readonly number[]>>
}

/** For all organisations; the ids begin with what those of one are looked for by. */
const indexes = [['period', 'by']] as const
/** Sums of days. A row holds at most 1,000 names, so a large organisation has several rows a day. */
export const daySums = kind<SumTable>('usage-day', indexes)
/** Sums of whole months, made of the sums of their days. */
export const monthSums = kind<SumTable>('usage-month', indexes)

/** Names of one row. */
const namesPerRow = 1_000

/** Numbers in one list of sums. */
export const lengthOfSums = countNames.length

/** The beginning of the ids of the rows of a table. */
export const tablePrefix = (by: Grouping, organization: string, period: string): string =>
  `${by}/${organization}/${period}`

/** Writes a table, unless a later turn was written. */
export const writeTable = async (
  rows: MetadataStore,
  table: Kind<SumTable>,
  { by, organization, period, turn }: Omit<SumTable, 'sums'>,
  all: readonly Sum[],
): Promise<void> => {
  for (let part = 0; part === 0 || part * namesPerRow < all.length; part++) {
    const names = all.slice(part * namesPerRow, (part + 1) * namesPerRow)
    const sums = Object.fromEntries(names.map(({ name, sums }) => [name, sums]))
    const id = `${tablePrefix(by, organization, period)}/${part}`
    const row: SumTable = { organization, by, period, turn, sums }
    for (;;) {
      if (await rows.create(table, id, row)) break
      const known = await rows.get(table, id)
      if (known === null) continue
      if (known.turn >= turn || (await rows.update(table, id, { turn, sums }, { turn: known.turn })) !== null) break
    }
  }
}
