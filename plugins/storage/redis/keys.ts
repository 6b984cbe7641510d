import type { Kind } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'

/** The keys of one kind. A prefix ends with a space, which no stored name contains. */
export interface Keys {
  /** The prefix before the id of a row. */
  readonly row: string
  /** The prefix before the fields of an index. */
  readonly index: string
  /** The key with the states of all indexes. */
  readonly indexes: string
  /** The prefix before the id of a completed change. */
  readonly done: string
}

/** Throws when the name of the kind cannot stand in a key. */
export type KeysOf = <T>(kind: Kind<T>) => Keys

/** The prefix stands in braces: a cluster keeps all keys in one place. */
export const keysWith =
  (prefix: string): KeysOf =>
  ({ name }) => {
    const key = (what: string) => `{${prefix}}:${what} ${storedName(name)}`
    return { row: `${key('row')} `, index: `${key('index')} `, indexes: key('indexes'), done: `${key('done')} ` }
  }
