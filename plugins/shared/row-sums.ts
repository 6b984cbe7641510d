import type { Part, Sum, SumGroup } from '../../core/ports/metadata-store.ts'

type Fields = Readonly<Record<string, unknown>>

/** Sums by name, which grow row by row. */
export interface RowSums {
  /** Both lists of one name have the same length. */
  add(name: string, numbers: readonly number[]): void
  /** The row adds its fields under the text in the field `by`. */
  group(row: object, by: string, fields: readonly string[]): void
  /** The row adds the lists that it has by name in a field. */
  tally(row: object, field: string, length: number): void
  /** In the order of the names. */
  part(part: Part): readonly Sum[]
}

/** Sums by two names, which grow row by row. */
export interface GroupedSums {
  add(row: object): void
  /** Sorted by the outer name. A limit counts the inner sums and never splits an outer name. */
  part(part: Part): readonly SumGroup[]
}

/** A field of an older row may be absent, and counts as zero. */
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Adds up the rows of a report in this process. */
export const rowSums = (): RowSums => {
  const all = new Map<string, number[]>()

  const add = (name: string, numbers: readonly number[]): void => {
    const sums = all.get(name)
    if (sums === undefined) return void all.set(name, [...numbers])
    // A day has millions of these additions: an iterator of entries doubles their time.
    for (let at = 0; at < numbers.length; at++) sums[at]! += numbers[at]!
  }

  return {
    add,
    group(row, by, fields) {
      const values = row as Fields
      add(
        textOf(values[by]),
        fields.map((field) => numberOf(values[field])),
      )
    },
    tally(row, field, length) {
      const lists = (row as Fields)[field]
      if (typeof lists !== 'object' || lists === null) return
      for (const [name, list] of Object.entries(lists as Readonly<Record<string, readonly unknown[]>>))
        add(
          name,
          Array.from({ length }, (_, at) => numberOf(list[at])),
        )
    },
    part: ({ after, limit }) =>
      [...all]
        .filter(([name]) => after === undefined || name > after)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, limit)
        .map(([name, sums]) => ({ name, sums })),
  }
}

/** The same, for each text in the field `within` and each of the fields `by`. */
export const groupedSums = (within: string, by: readonly string[], fields: readonly string[]): GroupedSums => {
  const all = new Map<string, readonly RowSums[]>()

  return {
    add(row) {
      const values = row as Fields
      const name = textOf(values[within])
      let groups = all.get(name)
      if (groups === undefined) all.set(name, (groups = by.map(() => rowSums())))
      const numbers = fields.map((field) => numberOf(values[field]))
      for (const [at, sums] of groups.entries()) sums.add(textOf(values[by[at]!]), numbers)
    },
    part({ after, limit }) {
      const found: SumGroup[] = []
      let count = 0
      for (const name of [...all.keys()].sort()) {
        if (count >= limit) break
        if (after !== undefined && name <= after) continue
        for (const [at, group] of (all.get(name) ?? []).entries()) {
          const sums = group.part({ limit: Infinity })
          found.push({ within: name, by: by[at]!, sums })
          count += sums.length
        }
      }
      return found
    },
  }
}
