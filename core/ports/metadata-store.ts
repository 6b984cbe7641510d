import { functions, one } from '../container.ts'

/** A family of rows. `T` exists only in the type. A store keeps an index for each list of fields. */
export interface Kind<T> {
  readonly name: string
  readonly indexes: readonly (readonly (keyof T & string)[])[]
  readonly [row]?: T
}

declare const row: unique symbol

/** Declares a family of rows. An index helps queries that compare its first fields and order by its last. */
export const kind = <T extends object>(
  name: string,
  indexes: readonly (readonly (keyof T & string)[])[] = [],
): Kind<T> => ({
  name,
  indexes,
})

/** Rows of a kind. All given conditions must hold. Without conditions, every row matches. */
export interface Query<T> {
  /** Fields that equal these values; null matches null and absent. */
  readonly where?: Partial<T>
  /** A field between two values, both inclusive. */
  readonly between?: {
    readonly field: keyof T & string
    readonly from?: string | number
    readonly to?: string | number
  }
  /** Rows with the text in one of the fields, in any case. The text is no pattern. */
  readonly contains?: { readonly text: string; readonly fields: readonly (keyof T & string)[] }
  /** The prefix of the ids. */
  readonly prefix?: string
  /** Rows whose ids stand behind this one: pages that each cost the same, where an offset walks over all rows before it. */
  readonly after?: string
  /** Sorted by this field, ties by id in the same direction; by id when absent. */
  readonly order?: { readonly by: keyof T & string; readonly descending?: boolean }
  /** All matching rows when absent. */
  readonly limit?: number
  /** Rows that are skipped, in the query's order; 0 when absent. */
  readonly offset?: number
  /** `total` need not count beyond this number: a store with expensive counting stops there. */
  readonly countTo?: number
}

/** A row beside its id, which is no field of the row. */
export interface Row<T> {
  readonly id: string
  readonly row: T
}

/**
 * Rows by kind and id; a row is plain JSON. A change is durable and visible to all when its promise resolves. After a
 * rejection the change may have happened or may still happen: a change that must not happen twice needs `when`.
 */
export interface MetadataStore {
  /** Null when there is no such row. */
  get<T>(kind: Kind<T>, id: string): Promise<T | null>
  /** False when the id is taken; the store is unchanged then. */
  create<T>(kind: Kind<T>, id: string, row: T): Promise<boolean>
  /**
   * Replaces the named fields in one step, only while the fields of `when` match. Returns the new row; null when the
   * row is missing or `when` does not match.
   */
  update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>): Promise<T | null>
  /**
   * Adds to counters in one step and returns the sums. A missing row is made, unless `when` is given. Null when the row
   * is missing or `when` does not match. Usage and quotas depend on it.
   */
  add<T>(
    kind: Kind<T>,
    id: string,
    deltas: Readonly<Record<string, number>>,
    when?: Partial<T>,
  ): Promise<Readonly<Record<string, number>> | null>
  /** True when a row was removed. With `when`, only while those fields match. */
  remove<T>(kind: Kind<T>, id: string, when?: Partial<T>): Promise<boolean>
  /** `total` counts all matching rows, before limit and offset. */
  list<T>(kind: Kind<T>, query: Query<T>): Promise<{ readonly rows: readonly Row<T>[]; readonly total: number }>
  /** Reads of many rows. A store without them has its rows listed in their place. */
  readonly reports?: Reports
  /** What keeps rows from being written, as the last write said; null while nothing does. */
  obstacle?(): string | null
  /** Closes connections. Calls under way may reject. */
  dispose?(): Promise<void> | void
}

/** Which part of many results is asked for. */
export interface Part {
  /** The name after which the part begins; the first one when absent. */
  readonly after?: string
  /** The largest number of results of this part. */
  readonly limit: number
}

/** Sums of rows that have a name in common; several stand in the order of their names. */
export interface Sum {
  readonly name: string
  /** One for each asked field, in the same order. */
  readonly sums: readonly number[]
}

/** Rows that a report looks at. */
export type ReportQuery<T> = Pick<Query<T>, 'where' | 'between' | 'prefix'>

/** Sums of the rows that have one text in the field `within`; their names are the texts in the field `by`. */
export interface SumGroup {
  readonly within: string
  readonly by: string
  /** In the order of the names. */
  readonly sums: readonly Sum[]
}

/**
 * Reads of many rows, on connections of their own, so that no other call waits for them. A report that takes too long
 * throws Overdue.
 */
export interface Reports {
  /** As the store's own list. */
  list: MetadataStore['list']
  /** Adds up fields of all rows that have the same text in the field `by`. Rows without a text there have an empty name. */
  group<T>(
    kind: Kind<T>,
    query: ReportQuery<T>,
    by: keyof T & string,
    fields: readonly (keyof T & string)[],
    part: Part,
  ): Promise<readonly Sum[]>
  /**
   * One reading makes such sums for each text in the field `within` and each of the fields `by`, in this order. The part
   * ends with the text that reaches its limit of sums, and the next one begins after that text.
   */
  groups<T>(
    kind: Kind<T>,
    query: ReportQuery<T>,
    within: keyof T & string,
    by: readonly (keyof T & string)[],
    fields: readonly (keyof T & string)[],
    part: Part,
  ): Promise<readonly SumGroup[]>
  /** The field of each row has lists of numbers by name. Adds up the lists of the same name. */
  tally<T>(
    kind: Kind<T>,
    query: ReportQuery<T>,
    field: keyof T & string,
    /** The length of each list; a list of a row is never longer. */
    length: number,
    part: Part,
  ): Promise<readonly Sum[]>
}

/** All processes of a gateway share one store, so a row decides between them. */
export const MetadataStore = one<MetadataStore>(
  'MetadataStore',
  functions('get', 'create', 'update', 'add', 'remove', 'list'),
)
