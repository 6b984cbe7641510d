import { one } from '../container.ts'

/** A family of rows. `T` lives only in the type; a store keeps an index for each list of fields. */
export interface Kind<T> {
  readonly name: string
  readonly indexes: readonly (readonly (keyof T & string)[])[]
  readonly [row]?: T
}

declare const row: unique symbol

export const kind = <T extends object>(
  name: string,
  indexes: readonly (readonly (keyof T & string)[])[] = [],
): Kind<T> => ({
  name,
  indexes,
})

export interface Query<T> {
  /** Fields that equal these values; null matches null and absent. */
  readonly where?: Partial<T>
  /** A field between two values, both inclusive. */
  readonly between?: {
    readonly field: keyof T & string
    readonly from?: string | number
    readonly to?: string | number
  }
  /** Rows in which one of the fields contains the text, in any case; nothing in it is a pattern. */
  readonly contains?: { readonly text: string; readonly fields: readonly (keyof T & string)[] }
  /** Ids that begin so. */
  readonly prefix?: string
  /** By this field, ties by id in the same direction; by id when absent. */
  readonly order?: { readonly by: keyof T & string; readonly descending?: boolean }
  readonly limit?: number
  readonly offset?: number
  /** `total` need not count further than this: a store for which counting is dear stops there. */
  readonly countTo?: number
}

export interface Row<T> {
  readonly id: string
  readonly row: T
}

/**
 * Rows by kind and id; a row is plain JSON. Every change is durable and seen by all when its promise resolves. A change
 * that rejects may have been made, or be made yet: repeat a change that must not happen twice with a `when`.
 */
export interface MetadataStore {
  get<T>(kind: Kind<T>, id: string): Promise<T | null>
  /** False when the id is taken; then nothing changes. */
  create<T>(kind: Kind<T>, id: string, row: T): Promise<boolean>
  /** Replaces the named fields in one step, only while the fields of `when` hold; gives the new row, or null when it is missing or `when` fails. */
  update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>): Promise<T | null>
  /**
   * Adds to counters in one step and gives the sums; makes a missing row. With `when`, only while those fields hold, and
   * null when the row is missing or `when` fails. Usage and quotas rest on it.
   */
  add<T>(
    kind: Kind<T>,
    id: string,
    deltas: Readonly<Record<string, number>>,
    when?: Partial<T>,
  ): Promise<Readonly<Record<string, number>> | null>
  /** Whether a row was removed; with `when`, only while those fields hold. */
  remove<T>(kind: Kind<T>, id: string, when?: Partial<T>): Promise<boolean>
  /** `total` counts all that match, before limit and offset. */
  list<T>(kind: Kind<T>, query: Query<T>): Promise<{ readonly rows: readonly Row<T>[]; readonly total: number }>
  dispose?(): Promise<void> | void
}

export const MetadataStore = one<MetadataStore>('MetadataStore')
