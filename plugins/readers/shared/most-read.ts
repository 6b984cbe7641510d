import type { Most } from './data-cut.ts'

/** The limits for tables and data when the caller sets none. */
export const mostRead: Most = { values: 200_000, characters: 2_000_000 }
