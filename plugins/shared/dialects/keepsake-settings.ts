import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const shape = v.optional(
  v.strictObject({
    /** Seals what callers keep between turns; one of this process alone when absent. */
    secret: v.optional(v.pipe(v.string(), v.minLength(32))),
  }),
  {},
)

/** The secret of what callers keep between turns. */
export const keepsakeSettings = section('keepsakes', shape, { fixed: ['keepsakes'] })
