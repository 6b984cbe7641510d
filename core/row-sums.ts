import type { Part, Sum, SumGroup } from './ports/metadata-store.ts'

/** Sums by name, which grow row by row. */
export interface RowSums {
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
  part(part: Part): readonly SumGroup[]
}

const numberOf = (it: unknown): number => (typeof it === 'number' ? it : 0)

const textOf = (it: unknown): string => (typeof it === 'string' ? it : '')

/** Adds up the rows of a report in this process. */
export const rowSums = (): RowSums => {
  const all = new Map<string, number[]>()

  const sumsOf = (name: string, length: number): number[] => {
    let sums = all.get(name)
    if (sums === undefined) all.set(name, (sums = new Array<number>(length).fill(0)))
    return sums
  }

  return {
    group(row, by, fields) {
      const it = row as Readonly<Record<string, unknown>>
      const sums = sumsOf(textOf(it[by]), fields.length)
      for (const [at, field] of fields.entries()) sums[at]! += numberOf(it[field])
    },
    tally(row, field, length) {
      const lists = (row as Readonly<Record<string, unknown>>)[field]
      if (typeof lists !== 'object' || lists === null) return
      for (const [name, list] of Object.entries(lists as Readonly<Record<string, readonly unknown[]>>)) {
        const sums = sumsOf(name, length)
        for (let at = 0; at < length; at++) sums[at]! += numberOf(list[at])
      }
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
      const name = textOf((row as Readonly<Record<string, unknown>>)[within])
      let its = all.get(name)
      if (its === undefined) all.set(name, (its = by.map(rowSums)))
      for (const [at, sums] of its.entries()) sums.group(row, by[at]!, fields)
    },
    part({ after, limit }) {
      const found: SumGroup[] = []
      let count = 0
      for (const name of [...all.keys()].sort()) {
        if (count >= limit) break
        if (after !== undefined && name <= after) continue
        for (const [at, its] of all.get(name)!.entries()) {
          const sums = its.part({ limit: Infinity })
          found.push({ within: name, by: by[at]!, sums })
          count += sums.length
        }
      }
      return found
    },
  }
}
