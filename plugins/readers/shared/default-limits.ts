import type { ContentLimits } from './content-cutter.ts'

/** The limits for tables and data when the caller sets none. */
export const defaultLimits: ContentLimits = { values: 200_000, characters: 2_000_000 }
