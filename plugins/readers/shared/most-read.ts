import type { Most } from './data-cut.ts'

/** The most that is read of a table or of data for which the caller names no limits. */
export const mostRead: Most = { values: 200_000, characters: 2_000_000 }
