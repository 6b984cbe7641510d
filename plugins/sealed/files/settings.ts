import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const ms = v.pipe(v.number(), v.integer(), v.minValue(1))
const count = v.pipe(v.number(), v.integer(), v.minValue(1))

const shape = v.optional(
  v.strictObject({
    /** Of an organisation; absent or null means no limit. */
    quota: v.optional(
      v.strictObject({
        bytes: v.optional(v.nullable(count), null),
        files: v.optional(v.nullable(count), null),
      }),
      {},
    ),
    /** Ms that an incognito file is kept. */
    incognito: v.optional(ms, 86_400_000),
    /** Ms that a link to the store works. */
    link: v.optional(ms, 300_000),
    /** Ms between two sweeps of a process. */
    sweep: v.optional(ms, 3_600_000),
    /** Ms after which bytes without a record are an orphan; longer than any upload may take. */
    grace: v.optional(ms, 86_400_000),
    /** Ms that the indexing of a file may take. */
    indexing: v.optional(ms, 900_000),
  }),
  {},
)

/** How much is stored, and for how long. */
export const fileSettings = section('files', shape, { fixed: ['files.sweep', 'files.grace'] })
