import { one } from '../container.ts'

/** Short-lived copies of what can be had again. Never the ground of a limit or of access; holds nothing a user wrote. */
export interface Cache {
  /** `undefined` when absent, over, or when the cache itself is out of reach: a cache never fails a request. */
  get<T>(key: string): Promise<T | undefined>
  /** Kept for `ttl` ms at most; losing it is no error. */
  set<T>(key: string, value: T, ttl: number): Promise<void>
  remove(key: string): Promise<void>
  dispose?(): Promise<void> | void
}

export const Cache = one<Cache>('Cache')
