import { functions, one } from '../container.ts'

/**
 * Short-lived copies of recoverable data. No limit and no access decision depends on a cache, and a cache holds no text
 * of a user.
 */
export interface Cache {
  /** `undefined` when the copy is absent or expired, or the cache is unreachable: a cache never fails a request. */
  get<T>(key: string): Promise<T | undefined>
  /** Keeps a copy for at most `ttl` ms. Losing the copy is no error. */
  set<T>(key: string, value: T, ttl: number): Promise<void>
  /** Removing an absent copy is no error. Other processes may keep their own copy until its time ends. */
  remove(key: string): Promise<void>
  dispose?(): Promise<void> | void
}

/** One cache serves all parts; each part puts its own prefix before its keys. */
export const Cache = one<Cache>('Cache', functions('get', 'set', 'remove'))
