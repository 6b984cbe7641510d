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
const numberOf = (it: unknown): number => (typeof it === 'number' ? it : 0)
const textOf = (it: unknown): string => (typeof it === 'string' ? it : '')

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
      const it = row as Fields
      add(
        textOf(it[by]),
        fields.map((field) => numberOf(it[field])),
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
      const it = row as Fields
      const name = textOf(it[within])
      let its = all.get(name)
      if (its === undefined) all.set(name, (its = by.map(() => rowSums())))
      const numbers = fields.map((field) => numberOf(it[field]))
      for (const [at, sums] of its.entries()) sums.add(textOf(it[by[at]!]), numbers)
    },
    part({ after, limit }) {
      const found: SumGroup[] = []
      let count = 0
      for (const name of [...all.keys()].sort()) {
        if (count >= limit) break
        if (after !== undefined && name <= after) continue
        for (const [at, its] of (all.get(name) ?? []).entries()) {
          const sums = its.part({ limit: Infinity })
          found.push({ within: name, by: by[at]!, sums })
          count += sums.length
        }
      }
      return found
    },
  }
}
